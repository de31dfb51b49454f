/*
 * kernels.h - the kernels that were requested from the programs of a recipe that is being read.
 */
#ifndef INGOT_PERSIST_RECIPE_KERNELS_H
#define INGOT_PERSIST_RECIPE_KERNELS_H

#include "persist/recipe/containers/arena.h"
#include "persist/recipe/containers/buffer.h"
#include "persist/recipe/containers/key_map.h"

/* Not synchronized. */
struct recipe_kernels {
    struct recipe_buffer nodes; /* a program's number and a name each */
    struct key_map known;       /* by the records' keys */
};

void recipe_kernels_init(struct recipe_kernels *kernels, const ingot_allocator_t *allocator);
void recipe_kernels_fini(struct recipe_kernels *kernels);
/* Adds a kernel of the program with this number, unless the key of its record is there. Returns false if memory runs
 * out. */
bool recipe_kernels_add(struct recipe_kernels *kernels, struct recipe_arena *arena, size_t program, const uint8_t *key,
                        size_t length, const uint8_t *name);

size_t recipe_kernels_count(const struct recipe_kernels *kernels);
size_t recipe_kernels_program(const struct recipe_kernels *kernels, size_t index);
const char *recipe_kernels_name(const struct recipe_kernels *kernels, size_t index);

#endif
