/*
 * server_behind.c - puts the server that the environment names behind a store of this machine; see server_behind.h.
 */
#include "cli/store/server_behind.h"

#include <stddef.h>
#if INGOT_WITH_REMOTE
#include <ingot/remote.h>

enum { TEXT_CAPACITY = 16384, CONNECT_MS = 2000 };

static ingot_status_t make_chain(ingot_storage_t *chain, ingot_storage_t store, ingot_storage_t server)
{
    const ingot_persist_settings_t settings = {.struct_size = sizeof(settings), .write_through = 1};
    const ingot_storage_t tiers[] = {store, server};
    const ingot_status_t status = ingot_persist_set_settings(server, &settings);
    return status == INGOT_SUCCESS ? ingot_persist_chain(chain, 2, tiers) : status;
}

ingot_status_t server_behind_open(ingot_storage_t *chain, ingot_storage_t *server, ingot_storage_t store,
                                  ingot_event_callback_t on_event, void *user)
{
    char text[TEXT_CAPACITY];
    ingot_remote_info_t info = INGOT_REMOTE_INFO_INIT;
    ingot_persist_trust_t trust = INGOT_PERSIST_TRUST_INIT;
    *chain = NULL;
    *server = NULL;
    ingot_status_t status = ingot_remote_info_from_environment(&info, &trust, sizeof(text), text);
    if (status != INGOT_SUCCESS)
        return status == INGOT_NOT_FOUND ? INGOT_SUCCESS : status;
    info.connect_timeout_ms = CONNECT_MS; /* this process may have the lowest priority */
    info.on_event = on_event;
    info.on_event_user = user;
    status = ingot_remote_open(server, &info);
    if (status == INGOT_SUCCESS)
        status = make_chain(chain, store, *server);
    if (status != INGOT_SUCCESS) {
        ingot_storage_release(*server);
        *server = NULL;
    }
    return status;
}

ingot_status_t server_behind_flush(ingot_storage_t server, uint64_t max_time_ms)
{
    return server != NULL ? ingot_remote_flush(server, max_time_ms) : INGOT_SUCCESS;
}
#else
ingot_status_t server_behind_open(ingot_storage_t *chain, ingot_storage_t *server, ingot_storage_t store,
                                  ingot_event_callback_t on_event, void *user)
{
    (void)store;
    (void)on_event;
    (void)user;
    *chain = NULL;
    *server = NULL;
    return INGOT_SUCCESS;
}

ingot_status_t server_behind_flush(ingot_storage_t server, uint64_t max_time_ms)
{
    (void)server;
    (void)max_time_ms;
    return INGOT_SUCCESS;
}
#endif
