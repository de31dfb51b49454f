/*
 * remote.h - puts the server that machines share behind the user's store: what the store lacks is loaded from the
 * server.
 */
#ifndef INGOT_LAYERS_COMMON_REMOTE_REMOTE_H
#define INGOT_LAYERS_COMMON_REMOTE_REMOTE_H

#include <ingot/persist.h>

/* If INGOT_PERSIST_REMOTE names a server, puts it behind a store. *storage is then the storage to use instead, which
 * has its own reference to the store. It is NULL if the variable is not set, and on failure. */
ingot_status_t remote_open_behind(ingot_storage_t *storage, ingot_storage_t local, ingot_event_callback_t on_event);

#endif
