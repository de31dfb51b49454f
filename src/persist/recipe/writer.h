/*
 * writer.h - appends records to a recipe file.
 */
#ifndef INGOT_PERSIST_RECIPE_WRITER_H
#define INGOT_PERSIST_RECIPE_WRITER_H

#include <ingot/recipe.h>

#include "persist/base/files.h"
#include "persist/recipe/format/record.h"

/* A record to append. The caller owns the content. */
struct recipe_item {
    enum recipe_record_kind kind;
    uint8_t key[INGOT_RECIPE_KEY_SIZE];
    size_t size;
    const void *content;
    struct recipe_buffer encoded; /* set by writer_append, like the next two */
    bool is_repeated;             /* an earlier item has the same kind and key */
    bool is_needed;
};

/* Does what ingot_recipe_writer_open does, but also succeeds while other processes append the whole time: the first
 * addition opens the file. */
ingot_status_t writer_open_later(ingot_recipe_writer_t *writer, const ingot_recipe_writer_info_t *info);
/* Does the same, but the first addition creates the file and its directory. */
ingot_status_t writer_open_kept(ingot_recipe_writer_t *writer, const ingot_recipe_writer_info_t *info);
/* Prepare the items of an addition, and compress those that are needed. */
ingot_status_t recipe_items_init(size_t count, struct recipe_item *items, const ingot_allocator_t *allocator);
void recipe_items_fini(size_t count, struct recipe_item *items);
ingot_status_t recipe_items_encode(size_t count, struct recipe_item *items, const char *path);
bool recipe_items_are_encoded(size_t count, const struct recipe_item *items);

/* Refuses additions to other files than this one with INGOT_BUSY from now on. */
void writer_expect(ingot_recipe_writer_t writer, const struct file_facts *facts);
/* Appends the records that the file lacks, in their order. */
ingot_status_t writer_append(ingot_recipe_writer_t writer, size_t count, struct recipe_item *items);
/* Returns whether the file is known to have such a record. The writer of a kept file first reads the file, unless it
 * has done so before. If the record is missing, returns the status with which an addition would probably fail. */
ingot_status_t writer_look_up(ingot_recipe_writer_t writer, enum recipe_record_kind kind, const uint8_t *key,
                              bool *is_there);
/* Does what ingot_recipe_writer_add_kernel does, for a program of the file. The name's length is that of the format. */
ingot_status_t writer_add_kernel(ingot_recipe_writer_t writer, const uint8_t *program_key, const char *name);
/* Has writer_look_up find this key as well, for as long as the file is known. */
void writer_remember(ingot_recipe_writer_t writer, enum recipe_record_kind kind, const uint8_t *key);
/* True if the file was found to have such a record, or the key was remembered. Does not touch the file system, so the
 * file may be another one by now. */
bool writer_knows(ingot_recipe_writer_t writer, enum recipe_record_kind kind, const uint8_t *key);
/* Returns the key of the program that was recorded with this id. Reads the file if it is not known yet.
 * INGOT_NOT_FOUND, which may lack a detail: the file does not have the program. INGOT_BUSY, INGOT_UNTRUSTED, and other
 * statuses of files that cannot be read. */
ingot_status_t writer_find_program(ingot_recipe_writer_t writer, const uint8_t *id_key, uint8_t *program_key);
const ingot_allocator_t *writer_allocator(ingot_recipe_writer_t writer);
/* Reports what could not be recorded to the callback, each status once. Returns false if it was reported before. */
bool writer_tell(ingot_recipe_writer_t writer, ingot_status_t status, const char *name, const char *reason);

#endif
