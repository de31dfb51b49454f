/*
 * arena.c - allocates chunks of growing size and cuts pieces from their front; see arena.h.
 */
#include "util/arena.h"

#include <stddef.h>
#include <string.h>

enum { FIRST_CHUNK = 16384, LARGEST_CHUNK = 1 << 20, PIECE_ALIGNMENT = 16 };

struct arena_chunk {
    struct arena_chunk *older;
    size_t size; /* size of the whole chunk, with this header */
};

static size_t round_up_piece_size(size_t size)
{
    return (size + PIECE_ALIGNMENT - 1) / PIECE_ALIGNMENT * PIECE_ALIGNMENT;
}

void arena_init(struct arena *arena, const ingot_allocator_t *allocator)
{
    *arena = (struct arena){.allocator = allocator};
}

static void free_chunks(struct arena *arena, struct arena_chunk *chunk)
{
    while (chunk != NULL) {
        struct arena_chunk *older = chunk->older;
        arena->allocator->deallocate(arena->allocator->user, chunk, chunk->size);
        chunk = older;
    }
}

void arena_fini(struct arena *arena)
{
    free_chunks(arena, arena->chunks);
    arena_init(arena, arena->allocator);
}

size_t arena_size(const struct arena *arena)
{
    size_t size = 0;
    for (const struct arena_chunk *chunk = arena->chunks; chunk != NULL; chunk = chunk->older)
        size += chunk->size;
    return size;
}

static void cut_from(struct arena *arena, struct arena_chunk *chunk)
{
    const size_t header = round_up_piece_size(sizeof(*chunk));

    arena->next = (uint8_t *)chunk + header;
    arena->left = chunk->size - header;
}

void arena_reset(struct arena *arena)
{
    if (arena->chunks == NULL)
        return;
    free_chunks(arena, arena->chunks->older);
    arena->chunks->older = NULL;
    cut_from(arena, arena->chunks);
}

static bool add_chunk_to_arena(struct arena *arena, size_t needed)
{
    size_t size = arena->chunks == NULL ? FIRST_CHUNK : arena->chunks->size * 2;
    if (size > LARGEST_CHUNK)
        size = LARGEST_CHUNK;
    const size_t header = round_up_piece_size(sizeof(struct arena_chunk));
    if (size < header + needed)
        size = header + needed;
    struct arena_chunk *chunk = arena->allocator->allocate(arena->allocator->user, size, _Alignof(max_align_t));
    if (chunk == NULL)
        return false;
    chunk->older = arena->chunks;
    chunk->size = size;
    arena->chunks = chunk;
    cut_from(arena, chunk);
    return true;
}

void *arena_take(struct arena *arena, size_t size)
{
    if (arena->failed)
        return NULL;
    const bool absurd = size > SIZE_MAX / 2;
    const size_t needed = absurd ? 0 : round_up_piece_size(size);
    if (absurd || ((arena->next == NULL || needed > arena->left) && !add_chunk_to_arena(arena, needed))) {
        arena->failed = true;
        return NULL;
    }
    void *piece = arena->next;
    arena->next += needed;
    arena->left -= needed;
    memset(piece, 0, needed);
    return piece;
}

char *arena_copy(struct arena *arena, size_t size, const void *text)
{
    char *copy = arena_take(arena, size + 1);
    if (copy != NULL && size != 0)
        memcpy(copy, text, size);
    return copy;
}
