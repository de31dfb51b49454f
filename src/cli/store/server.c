/*
 * server.c - opens the server that the options or the environment name; see server.h.
 */
#include "cli/store/server.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/base/exit_code.h"
#include "cli/store/store.h"

enum { CONNECT_MS = 5000, STALL_MS = 30000 };

int server_read_info(ingot_remote_info_t *info, const char *url, struct server_memory *memory)
{
    if (url != NULL && setenv("INGOT_PERSIST_REMOTE", url, 1) != 0)
        return store_failed("reading the settings", INGOT_OUT_OF_MEMORY);
    memory->trust = (ingot_persist_trust_t)INGOT_PERSIST_TRUST_INIT;
    const ingot_status_t read =
        ingot_remote_info_from_environment(info, &memory->trust, sizeof(memory->text), memory->text);
    if (read != INGOT_SUCCESS) {
        (void)fprintf(stderr, "ingot: %s%s\n", ingot_last_error_detail(),
                      read == INGOT_NOT_FOUND ? "; name a URL" : "");
        return EXIT_USAGE;
    }
    return EXIT_DONE;
}

int server_open(ingot_storage_t *server, const struct common_options *options, const char *url, uint32_t flags)
{
    struct server_memory memory;
    ingot_remote_info_t info = INGOT_REMOTE_INFO_INIT;
    ingot_persist_trust_t trust;
    int code = server_read_info(&info, url, &memory);
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
