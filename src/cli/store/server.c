/*
 * server.c - opens the server that the options or the environment name; see server.h.
 */
#include "cli/store/server.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/base/options.h"
#include "cli/store/store.h"

enum { CONNECT_MS = 5000, STALL_MS = 30000 };

int server_make_info(ingot_remote_info_t *info, const char *url)
{
    const char *named = url != NULL ? url : secure_getenv("INGOT_PERSIST_REMOTE");
    if (named == NULL || named[0] == '\0') {
        (void)fprintf(stderr, "ingot: INGOT_PERSIST_REMOTE is not set; name a URL\n");
        return EXIT_USAGE;
    }
    *info = (ingot_remote_info_t)INGOT_REMOTE_INFO_INIT;
    info->url = url;
    info->flags = INGOT_REMOTE_FROM_ENVIRONMENT;
    return EXIT_DONE;
}

int server_open(ingot_storage_t *server, const struct common_options *options, const char *url, uint32_t flags)
{
    ingot_remote_info_t info;
    ingot_persist_trust_t trust;
    int code = server_make_info(&info, url);
    if (code == EXIT_DONE)
        code = store_read_trust(&trust, options);
    if (code != EXIT_DONE)
        return code;
    info.trust = &trust; /* the options may demand more than the environment */
    info.flags |= flags;
    info.connect_timeout_ms = CONNECT_MS;
    info.stall_timeout_ms = STALL_MS;
    info.lost_time_ms = INGOT_UNLIMITED;
    info.on_event = store_tell_event;
    const ingot_status_t status = ingot_remote_open(server, &info);
    if (status == INGOT_SUCCESS)
        return EXIT_DONE;
    (void)store_failed("opening the server", status);
    return status == INGOT_OUT_OF_MEMORY ? EXIT_FAILED : EXIT_USAGE;
}
