/*
 * recording.h - writes the programs that are requested from a storage to a recipe.
 */
#ifndef INGOT_PERSIST_RECIPE_RECORDING_H
#define INGOT_PERSIST_RECIPE_RECORDING_H

#include <ingot/recipe.h>

/* Begins to record in a recipe file, as if the application had set a writer. If the file cannot be used, an event
 * reports that. */
void recording_begin(ingot_storage_t storage, const char *path, ingot_event_callback_t on_event, void *user);
/* Also begins to record in the store's own recipe. Recording the first program creates the file and its directory. */
void recording_keep(ingot_storage_t storage, const char *path, uint64_t max_bytes, ingot_event_callback_t on_event,
                    void *user);

#endif
