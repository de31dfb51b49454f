/*
 * settings.h - reads the user's settings, and opens the store that they name.
 */
#ifndef INGOT_LAYERS_OPENCL_SETTINGS_H
#define INGOT_LAYERS_OPENCL_SETTINGS_H

#include <ingot/persist.h>

#include <stdbool.h>

/* True if INGOT_LAYER_DISABLE turns the layer off, or if the process has more rights than its user. */
bool settings_are_off(void);

/* Returns the user's store, or NULL if there is none; the layer then caches nothing. The first call opens the store,
 * which stays open. If INGOT_PERSIST_REMOTE names a server, it is behind the store, and `on_event`, which must be the
 * same in all calls, receives its events. */
ingot_storage_t settings_store(ingot_event_callback_t on_event);
/* Returns the store if it is already open, otherwise NULL. */
ingot_storage_t settings_open_store(void);

#endif
