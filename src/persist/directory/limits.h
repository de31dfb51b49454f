/*
 * limits.h - sets the limits of an open directory store, which may change while threads use it.
 */
#ifndef INGOT_PERSIST_DIRECTORY_LIMITS_H
#define INGOT_PERSIST_DIRECTORY_LIMITS_H

#include <ingot/persist.h>

#include "persist/directory/layout/state.h"

/* Sets the limits, which are as in ingot_persist_info_t. */
void limits_set(struct directory *directory, uint64_t max_bytes, uint64_t max_entries, uint64_t max_age_ms);
/* Get and set the limits in settings. self is a struct directory. */
void limits_get(void *self, ingot_persist_settings_t *settings);
void limits_change(void *self, const ingot_persist_settings_t *settings);

#endif
