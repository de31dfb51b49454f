/*
 * writer.h - appends records to a recipe file.
 */
#ifndef INGOT_PERSIST_RECIPE_WRITER_H
#define INGOT_PERSIST_RECIPE_WRITER_H

#include <ingot/private/recipe.h>

#include "persist/base/files.h"
#include "persist/recipe/format/record.h"

/* A record to append. The caller owns the content. */
struct recipe_item {
    enum recipe_record_kind kind;
    uint8_t key[INGOT_RECIPE_KEY_SIZE];
    size_t size;
    const void *content;
    struct bytes_writer encoded; /* set by writer_append */
};

/* Does what ingot_recipe_writer_open does, but also succeeds if other processes keep the file locked. In that case, the
 * first addition opens the file. */
ingot_status_t writer_open_later(ingot_recipe_writer_t *writer, const ingot_recipe_record_info_t *info);
/* Does what ingot_recipe_writer_open does for a kept file, which is a store's own recipe. Does not touch the file; the
 * first addition creates it and its directory. */
ingot_status_t writer_open_kept(ingot_recipe_writer_t *writer, const ingot_recipe_record_info_t *info);
/* Adds a reference. Does nothing for NULL. */
void writer_reference(ingot_recipe_writer_t writer);

/* From now on, additions fail with INGOT_BUSY if the file at the path is not the file that has these facts. */
void writer_expect(ingot_recipe_writer_t writer, const struct file_facts *facts);
/* Appends those records that the file does not have, in their order. Appends either all of them or none. */
ingot_status_t writer_append(ingot_recipe_writer_t writer, size_t count, struct recipe_item *items);
/* Sets *is_there to true if the file has a record of this kind with this key. First reads what is new in the file,
 * without a lock. If the record is missing, and an addition would probably fail, returns the status that the addition
 * would return. */
ingot_status_t writer_look_up(ingot_recipe_writer_t writer, enum recipe_record_kind kind, const uint8_t *key,
                              bool *is_there);
/* Does what ingot_recipe_writer_add_kernel does, for the program in the file that has this key. The caller has checked
 * the length of the name. */
ingot_status_t writer_add_kernel(ingot_recipe_writer_t writer, const uint8_t *program_key, const char *name);
/* True if the file was found to have a record of this kind with this key. Does not touch the file system, so the file
 * may have been replaced by now. */
bool writer_knows(ingot_recipe_writer_t writer, enum recipe_record_kind kind, const uint8_t *key);
/* Copies the key of the program that was recorded with this id. Returns false if the file does not have the program.
 * Like writer_knows, does not touch the file system. */
bool writer_find_program(ingot_recipe_writer_t writer, const uint8_t *id_key, uint8_t *program_key);
const ingot_allocator_t *writer_allocator(ingot_recipe_writer_t writer);
/* Reports that something could not be recorded, to the callback and to the thread's context. Reports each status only
 * once. */
void writer_tell(ingot_recipe_writer_t writer, ingot_status_t status, uint64_t started_ns, const char *reason);

#endif
