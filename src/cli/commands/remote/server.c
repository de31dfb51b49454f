/*
 * server.c - opens the server that the options or the environment name; see server.h.
 */
#include "cli/commands/remote/server.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/base/exit_code.h"
#include "cli/store/store.h"

enum { CONNECT_MS = 5000, STALL_MS = 30000 };

bool server_is_named(void)
{
    char text[SERVER_TEXT_CAPACITY];
    ingot_remote_info_t info = INGOT_REMOTE_INFO_INIT;
    return ingot_remote_info_from_environment(&info, sizeof(text), text) != INGOT_NOT_FOUND;
}

int server_read_info(ingot_remote_info_t *info, const char *url, char text[SERVER_TEXT_CAPACITY])
{
    if (url != NULL && setenv("INGOT_PERSIST_REMOTE", url, 1) != 0)
        return store_failed("reading the settings", INGOT_OUT_OF_MEMORY);
    const ingot_status_t read = ingot_remote_info_from_environment(info, SERVER_TEXT_CAPACITY, text);
    if (read != INGOT_SUCCESS) {
        (void)fprintf(stderr, "ingot: %s%s\n", ingot_last_error_detail(),
                      read == INGOT_NOT_FOUND ? "; name a URL" : "");
        return EXIT_USAGE;
    }
    return EXIT_DONE;
}

int server_open(ingot_storage_t *server, const struct common_options *options, const char *url, uint32_t flags)
{
    char text[SERVER_TEXT_CAPACITY];
    ingot_remote_info_t info = INGOT_REMOTE_INFO_INIT;
    ingot_persist_trust_t trust;
    int code = server_read_info(&info, url, text);
    if (code == EXIT_DONE)
        code = store_read_trust(&trust, options);
    if (code != EXIT_DONE)
        return code;
    info.trust_policy = trust.policy; /* the options may demand more than the environment */
    info.key_files = trust.key_files;
    info.flags |= flags;
    info.connect_timeout_ms = CONNECT_MS;
    info.stall_timeout_ms = STALL_MS;
    info.lost_time_ms = INGOT_REMOTE_NO_LIMIT;
    info.on_event = store_tell_event;
    const ingot_status_t status = ingot_remote_open(server, &info);
    if (status == INGOT_SUCCESS)
        return EXIT_DONE;
    (void)store_failed("opening the server", status);
    return status == INGOT_OUT_OF_MEMORY ? EXIT_FAILED : EXIT_USAGE;
}
