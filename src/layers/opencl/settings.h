/*
 * settings.h - the user's settings and the store that they name.
 */
#ifndef INGOT_LAYERS_OPENCL_SETTINGS_H
#define INGOT_LAYERS_OPENCL_SETTINGS_H

#include <ingot/persist.h>

#include <stdbool.h>

/* True if INGOT_LAYER_DISABLE is set, or if the process has more rights than its user. */
bool settings_are_off(void);

/* Returns the user's store, which the first call opens and which stays open, or NULL if there is none; the layer caches
 * nothing then. The server that INGOT_PERSIST_REMOTE names is behind it, and on_event,
 * the same for all calls, hears of that server. */
ingot_storage_t settings_store(ingot_event_callback_t on_event);
/* Returns the store if it is already open, otherwise NULL. */
ingot_storage_t settings_open_store(void);

#endif
