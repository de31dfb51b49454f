/*
 * recording.h - records the programs that are requested from a storage in a recipe.
 */
#ifndef INGOT_PERSIST_RECIPE_RECORDING_H
#define INGOT_PERSIST_RECIPE_RECORDING_H

#include <ingot/recipe.h>

/* Records a program that was loaded or compiled, if the storage records. Never fails. An event reports what could
 * not be recorded. */
void recording_note(ingot_storage_t storage, const_ingot_program_desc_t desc, const_ingot_program_t program);

/* Records a kernel that was created, likewise, unless its name is too long for the format. */
void recording_note_kernel(ingot_storage_t storage, const_ingot_program_desc_t desc, const char *name);

/* Begins to record in a file, as an application does with a writer. An event reports a file that cannot be used. */
void recording_begin(ingot_storage_t storage, const char *path, ingot_event_callback_t on_event, void *user);
/* Begins to record in the store's own recipe as well. The first program makes the file, and the directory that it is
 * in. */
void recording_keep(ingot_storage_t storage, const char *path, uint64_t max_bytes, ingot_event_callback_t on_event,
                    void *user);

#endif
