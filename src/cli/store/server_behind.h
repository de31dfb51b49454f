/*
 * server_behind.h - puts the server that the environment names behind a store of this machine.
 */
#ifndef INGOT_CLI_STORE_SERVER_BEHIND_H
#define INGOT_CLI_STORE_SERVER_BEHIND_H

#include <ingot/persist.h>

/* Creates a chain of the store and the server, as applications and layers have it: what the store lacks is loaded from
 * the server, and what is stored is also uploaded. If the environment names no server, sets both to NULL and returns
 * INGOT_SUCCESS. The caller releases the chain, then the server. on_event also gets events from the server's thread. */
ingot_status_t server_behind_open(ingot_storage_t *chain, ingot_storage_t *server, ingot_storage_t store,
                                  ingot_event_callback_t on_event, void *user);
/* Waits for the uploads, as ingot_remote_flush does. server: NULL: none. */
ingot_status_t server_behind_flush(ingot_storage_t server, uint64_t max_time_ms);

#endif
