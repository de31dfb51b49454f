/*
 * kernels.c - collects the kernels of a recipe's programs while the recipe is read; see kernels.h.
 */
#include "persist/recipe/kernels.h"

struct kernel_node {
    size_t program;   /* index of the program */
    const char *name; /* in the arena */
};

static const struct kernel_node *node_at(const struct recipe_kernels *kernels, size_t index)
{
    return (const struct kernel_node *)(const void *)kernels->nodes.bytes + index;
}

void recipe_kernels_init(struct recipe_kernels *kernels, const ingot_allocator_t *allocator)
{
    byte_array_init(&kernels->nodes, allocator);
    key_map_init(&kernels->known, allocator);
}

void recipe_kernels_fini(struct recipe_kernels *kernels)
{
    key_map_fini(&kernels->known);
    byte_array_fini(&kernels->nodes);
}

bool recipe_kernels_add(struct recipe_kernels *kernels, struct recipe_arena *arena, size_t program, const uint8_t *key,
                        size_t length, const uint8_t *name)
{
    if (key_map_find(&kernels->known, key, NULL))
        return true;
    const size_t index = recipe_kernels_count(kernels);
    const struct kernel_node node = {program, recipe_arena_copy(arena, length, (const char *)name)};
    byte_array_put(&kernels->nodes, sizeof(node), &node);
    return node.name != NULL && !kernels->nodes.failed && key_map_add(&kernels->known, key, index);
}

size_t recipe_kernels_count(const struct recipe_kernels *kernels)
{
    return kernels->nodes.size / sizeof(struct kernel_node);
}

size_t recipe_kernels_program(const struct recipe_kernels *kernels, size_t index)
{
    return node_at(kernels, index)->program;
}

const char *recipe_kernels_name(const struct recipe_kernels *kernels, size_t index)
{
    return node_at(kernels, index)->name;
}
