/*
 * writer.h - appends records to a recipe file.
 */
#ifndef INGOT_PERSIST_RECIPE_WRITER_H
#define INGOT_PERSIST_RECIPE_WRITER_H

#include <ingot/recipe.h>

#include "persist/recipe/record.h"

/* A record to append. The caller owns the content. */
struct recipe_item {
    enum recipe_record_kind kind;
    uint8_t key[INGOT_RECIPE_KEY_SIZE];
    size_t size;
    const void *content;
    struct recipe_buffer encoded; /* of writer_append */
    bool is_needed;               /* likewise */
};

/* Does what ingot_recipe_writer_open does, but also succeeds while other processes append the whole time: the first
 * addition opens the file. */
ingot_status_t writer_open_later(ingot_recipe_writer_t *writer, const ingot_recipe_writer_info_t *info);
/* Does the same, but leaves the file to the first addition, which also makes the directory that the file is in. */
ingot_status_t writer_open_kept(ingot_recipe_writer_t *writer, const ingot_recipe_writer_info_t *info);
/* Appends the records that the file lacks, in their order. */
ingot_status_t writer_append(ingot_recipe_writer_t writer, size_t count, struct recipe_item *items);
/* Returns the status with which a kept file refused the last addition, if another one would probably fail the same way.
 * INGOT_SUCCESS: an addition may succeed. */
ingot_status_t writer_check(ingot_recipe_writer_t writer);
/* True if the file is known to have such a record. The first call of a writer of writer_open_kept reads the file. */
bool writer_knows(ingot_recipe_writer_t writer, enum recipe_record_kind kind, const uint8_t *key);
/* Returns true, and the key of the program that was recorded with this id, if the file has it. */
bool writer_find_program(ingot_recipe_writer_t writer, const uint8_t *id_key, uint8_t *program_key);
const ingot_allocator_t *writer_allocator(ingot_recipe_writer_t writer);
/* Reports what could not be recorded to the callback, each status once. Returns false if it was reported before. */
bool writer_tell(ingot_recipe_writer_t writer, ingot_status_t status, const char *name, const char *reason);

#endif
