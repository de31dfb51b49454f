/*
 * arena.h - allocates small pieces of memory that are freed together.
 *
 * The first allocation that fails sets `failed`, and all later ones fail, too, so callers check once at the end.
 */
#ifndef INGOT_PERSIST_RECIPE_FORMAT_ARENA_H
#define INGOT_PERSIST_RECIPE_FORMAT_ARENA_H

#include <ingot/ingot.h>
#include <stdbool.h>

struct arena_piece;

struct recipe_arena {
    const ingot_allocator_t *allocator;
    struct arena_piece *last;
    bool failed;
};

void recipe_arena_init(struct recipe_arena *arena, const ingot_allocator_t *allocator);
void recipe_arena_fini(struct recipe_arena *arena);
/* Returns zeroed memory, or NULL if memory runs out. */
void *recipe_arena_take(struct recipe_arena *arena, size_t count, size_t size);
/* Copies a text and adds a NUL. Returns NULL if memory runs out. */
char *recipe_arena_copy(struct recipe_arena *arena, size_t size, const void *text);

#endif
