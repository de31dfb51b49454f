/*
 * arena.c - allocates small pieces of memory that are freed together; see arena.h.
 */
#include "persist/recipe/format/arena.h"

#include <string.h>

#include "persist/base/memory.h"

struct arena_piece {
    struct arena_piece *before;
    size_t size; /* of the whole piece, including these fields */
    max_align_t bytes[];
};

void recipe_arena_init(struct recipe_arena *arena, const ingot_allocator_t *allocator)
{
    *arena = (struct recipe_arena){.allocator = allocator};
}

void recipe_arena_fini(struct recipe_arena *arena)
{
    while (arena->last != NULL) {
        struct arena_piece *piece = arena->last;
        arena->last = piece->before;
        memory_free(arena->allocator, piece, piece->size);
    }
}

void *recipe_arena_take(struct recipe_arena *arena, size_t count, size_t size)
{
    const size_t room = SIZE_MAX / 2 - sizeof(struct arena_piece);
    if (arena->failed || (size != 0 && count > room / size)) {
        arena->failed = true;
        return NULL;
    }
    const size_t whole = sizeof(struct arena_piece) + count * size;
    struct arena_piece *piece = memory_allocate(arena->allocator, whole);
    if (piece == NULL) {
        arena->failed = true;
        return NULL;
    }
    memset(piece, 0, whole);
    piece->before = arena->last;
    piece->size = whole;
    arena->last = piece;
    return piece->bytes;
}

char *recipe_arena_copy(struct recipe_arena *arena, size_t size, const void *text)
{
    char *copy = recipe_arena_take(arena, size + 1, 1);
    if (copy != NULL && size != 0)
        memcpy(copy, text, size);
    return copy;
}
