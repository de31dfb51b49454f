/*
 * reader.h - what a recipe file contains.
 */
#ifndef INGOT_PERSIST_RECIPE_READER_H
#define INGOT_PERSIST_RECIPE_READER_H

#include <ingot/recipe.h>

#include "persist/base/files.h"
#include "persist/recipe/seal/check.h"

/* Opens a recipe, and passes its records and seals to the check, whose verdict is the caller's business. check: NULL
 * without a policy. Statuses as ingot_recipe_open. */
ingot_status_t recipe_open_checked(ingot_recipe_t *recipe, const char *path, struct recipe_check *check);

/* Examines the open file as recipe_file_check does. */
ingot_status_t recipe_check_file(ingot_recipe_t recipe, struct file_facts *facts);
/* Returns the content of a program's record and its size, as it is in the file, valid as long as the recipe. */
const uint8_t *recipe_content(ingot_recipe_t recipe, size_t index, size_t *size);
/* Returns the numbers of a program's includes, valid as long as the recipe. */
const uint32_t *recipe_numbers(ingot_recipe_t recipe, size_t index, size_t *count);
/* Reads a text, which the caller frees with its size and this allocator. */
ingot_status_t recipe_read_text(ingot_recipe_t recipe, size_t text, const ingot_allocator_t *allocator, size_t *size,
                                uint8_t **bytes);
/* Returns a text's digest, which is its key. */
const uint8_t *recipe_text_key(ingot_recipe_t recipe, size_t text);
/* Calls visit with the digest of each id of a program. */
void recipe_visit_ids(ingot_recipe_t recipe, size_t index, void (*visit)(void *user, const uint8_t *digest),
                      void *user);
const ingot_allocator_t *recipe_allocator(ingot_recipe_t recipe);

#endif
