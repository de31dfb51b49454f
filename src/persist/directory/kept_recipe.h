/*
 * kept_recipe.h - makes a store keep the recipe of its programs in programs.recipe, and removes it.
 *
 * A recipe says what the programs of a namespace are compiled from; see doc/store-format.md.
 */
#ifndef INGOT_PERSIST_DIRECTORY_KEPT_RECIPE_H
#define INGOT_PERSIST_DIRECTORY_KEPT_RECIPE_H

#include "persist/directory/state.h"

/* Makes a storage record the programs that are requested from it. A failure is reported by an event. */
void kept_recipe_begin(ingot_storage_t storage, const struct directory *directory, const ingot_persist_info_t *info);

/* Removes the recipe of a namespace, or of all namespaces if name_space is NULL. */
ingot_status_t kept_recipe_remove(const struct root *root, const char *name_space);

#endif
