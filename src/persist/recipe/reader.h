/*
 * reader.h - reads a recipe file, and gives other files of this folder access to its contents.
 */
#ifndef INGOT_PERSIST_RECIPE_READER_H
#define INGOT_PERSIST_RECIPE_READER_H

#include <ingot/private/recipe.h>

#include "persist/base/files.h"
#include "persist/recipe/check.h"

/* Opens a recipe, and passes its records and seals to `check`, which is NULL if there is no policy. The caller must
 * evaluate the check. Returns the statuses of ingot_recipe_open. */
ingot_status_t recipe_open_checked(ingot_recipe_t *recipe, const char *path, struct recipe_check *check);

/* Examines the open file as recipe_file_check does. */
ingot_status_t recipe_check_file(ingot_recipe_t recipe, struct file_facts *facts);
/* Returns the uncompressed content of a program's record, and its size. It is valid as long as the recipe. */
const uint8_t *recipe_content(ingot_recipe_t recipe, size_t index, size_t *size);
/* Returns the `numbers` of a program's ingot_includes_info_t. They are valid as long as the recipe. */
const uint32_t *recipe_numbers(ingot_recipe_t recipe, size_t index, size_t *count);
/* Reads a text. The caller must free it with this allocator and its size. */
ingot_status_t recipe_read_text(ingot_recipe_t recipe, size_t text, const ingot_allocator_t *allocator, size_t *size,
                                uint8_t **bytes);
/* Returns a text's digest, which is its key. */
const uint8_t *recipe_text_key(ingot_recipe_t recipe, size_t text);
/* Calls visit with the digest of each id of a program. */
void recipe_visit_ids(ingot_recipe_t recipe, size_t index, void (*visit)(void *user, const uint8_t *digest),
                      void *user);
const ingot_allocator_t *recipe_allocator(ingot_recipe_t recipe);

#endif
