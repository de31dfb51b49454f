/*
 * remote.h - the server that machines share, behind the user's store.
 */
#ifndef INGOT_LAYERS_OPENCL_REMOTE_REMOTE_H
#define INGOT_LAYERS_OPENCL_REMOTE_REMOTE_H

#include <ingot/persist.h>

/* If INGOT_PERSIST_REMOTE is set, puts the server that it names behind a store, and returns the storage to use instead,
 * which has its own reference. Returns NULL if the variable is not set or if that fails. An event reports a failure. */
ingot_storage_t remote_open_behind(ingot_storage_t local, ingot_event_callback_t on_event);

#endif
