/*
 * kernels.h - collects the kernels of a recipe's programs while the recipe is read.
 */
#ifndef INGOT_PERSIST_RECIPE_KERNELS_H
#define INGOT_PERSIST_RECIPE_KERNELS_H

#include "persist/base/containers/byte_array.h"
#include "persist/base/containers/key_map.h"
#include "persist/recipe/format/arena.h"

/* Kernels that were requested from the programs of a recipe. Not synchronized. */
struct recipe_kernels {
    struct byte_array nodes; /* an array; each node has a program's index and a kernel's name */
    struct key_map known;    /* maps the keys of the kernels' records to indices of nodes */
};

void recipe_kernels_init(struct recipe_kernels *kernels, const ingot_allocator_t *allocator);
void recipe_kernels_fini(struct recipe_kernels *kernels);
/* Adds a kernel of the program with this index. Does nothing if a record with the same key was added before. Returns
 * false if memory runs out. */
bool recipe_kernels_add(struct recipe_kernels *kernels, struct recipe_arena *arena, size_t program, const uint8_t *key,
                        size_t length, const uint8_t *name);

size_t recipe_kernels_count(const struct recipe_kernels *kernels);
size_t recipe_kernels_program(const struct recipe_kernels *kernels, size_t index);
const char *recipe_kernels_name(const struct recipe_kernels *kernels, size_t index);

#endif
