/*
 * settings.h - reads the user's settings, and opens the store that they name.
 */
#ifndef INGOT_LAYERS_COMMON_SETTINGS_H
#define INGOT_LAYERS_COMMON_SETTINGS_H

#include <ingot/persist.h>

#include <stdbool.h>

/* True if INGOT_LAYER_DISABLE turns the layer off, or if the process has more rights than its user. If the variable's
 * value is not a switch, the layer is on, but settings_open_store fails. */
bool settings_are_off(void);

/* Opens the user's store, if there is one. Must be called only once; the store stays open. If
 * INGOT_PERSIST_REMOTE names a server, puts that server behind the store. `on_event` gets the server's events, and
 * learns of everything that cannot be used. If there is no store, it gets `nothing_cached`: the
 * layer's name, and that it caches nothing. */
void settings_open_store(const char *nothing_cached, ingot_event_callback_t on_event);
/* Returns the store, or NULL if it is not open; the layer then caches nothing. */
ingot_storage_t settings_store(void);
/* True if nothing may be compiled (INGOT_ON_MISS=fail), also if there is no store. */
bool settings_must_not_compile(void);

#endif
