/*
 * settings.h - the user's settings and the store that they name.
 */
#ifndef INGOT_LAYERS_OPENCL_SETTINGS_H
#define INGOT_LAYERS_OPENCL_SETTINGS_H

#include <ingot/persist.h>

#include <stdbool.h>

/* True if INGOT_LAYER_DISABLE is set, or if the process runs with more rights than its user has. */
bool settings_are_off(void);

/* Returns the user's store, which the first call opens, or NULL if there is none: the layer then caches nothing. It
 * stays open. */
ingot_storage_t settings_store(void);
/* The same, but does not open it. */
ingot_storage_t settings_open_store(void);

#endif
