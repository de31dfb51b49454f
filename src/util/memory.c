/*
 * memory.c - allocates through the application's allocator; see memory.h. An arena allocates chunks of growing size and
 * cuts pieces from their front.
 */
#include "util/memory.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *allocate_with_c(void *user, size_t size, size_t alignment)
{
    (void)user;
    if (alignment <= _Alignof(max_align_t))
        return malloc(size);
    void *memory = NULL;
    return posix_memalign(&memory, alignment, size) == 0 ? memory : NULL;
}

static void free_with_c(void *user, void *memory, size_t size)
{
    (void)user;
    (void)size;
    free(memory);
}

const ingot_allocator_t memory_c_allocator = {allocate_with_c, free_with_c, NULL};

ingot_status_t memory_init(ingot_allocator_t *out, const ingot_allocator_t *from)
{
    if (from != NULL && (from->allocate == NULL || from->deallocate == NULL))
        return INGOT_INVALID_ARGUMENTS;
    *out = from != NULL ? *from : memory_c_allocator;
    return INGOT_SUCCESS;
}

void *memory_allocate_aligned(const ingot_allocator_t *allocator, size_t size, size_t alignment)
{
    return allocator->allocate(allocator->user, size != 0 ? size : 1, alignment);
}

void *memory_allocate(const ingot_allocator_t *allocator, size_t size)
{
    return memory_allocate_aligned(allocator, size, _Alignof(max_align_t));
}

void *memory_allocate_zeroed(const ingot_allocator_t *allocator, size_t size)
{
    void *memory = memory_allocate(allocator, size);
    if (memory != NULL)
        memset(memory, 0, size);
    return memory;
}

char *memory_make_text(const ingot_allocator_t *allocator, const char *text)
{
    const size_t size = text != NULL ? strlen(text) + 1 : 1;
    char *copy = memory_allocate(allocator, size);
    if (copy != NULL)
        memcpy(copy, text != NULL ? text : "", size);
    return copy;
}

void memory_free(const ingot_allocator_t *allocator, void *memory, size_t size)
{
    if (memory != NULL)
        allocator->deallocate(allocator->user, memory, size != 0 ? size : 1);
}

void memory_free_text(const ingot_allocator_t *allocator, char *text)
{
    if (text != NULL)
        memory_free(allocator, text, strlen(text) + 1);
}

/* ---- arenas ---- */

enum { FIRST_CHUNK = 16384, LARGEST_CHUNK = 1 << 20, PIECE_ALIGNMENT = 16 };

struct arena_chunk {
    struct arena_chunk *older;
    size_t size; /* size of the whole chunk, with this header */
    _Alignas(PIECE_ALIGNMENT) uint8_t pieces[];
};

void arena_init(struct arena *arena, const ingot_allocator_t *allocator)
{
    *arena = (struct arena){.allocator = allocator};
}

static void free_chunks(struct arena *arena, struct arena_chunk *chunk)
{
    while (chunk != NULL) {
        struct arena_chunk *older = chunk->older;
        memory_free(arena->allocator, chunk, chunk->size);
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

void arena_reset(struct arena *arena)
{
    if (arena->chunks == NULL)
        return;
    free_chunks(arena, arena->chunks->older);
    arena->chunks->older = NULL;
    arena->next = arena->chunks->pieces;
    arena->left = arena->chunks->size - sizeof(*arena->chunks);
}

static bool add_chunk_to_arena(struct arena *arena, size_t needed)
{
    size_t size = arena->chunks == NULL ? FIRST_CHUNK : arena->chunks->size * 2;
    if (size > LARGEST_CHUNK)
        size = LARGEST_CHUNK;
    if (size < sizeof(struct arena_chunk) + needed)
        size = sizeof(struct arena_chunk) + needed;
    struct arena_chunk *chunk = memory_allocate(arena->allocator, size);
    if (chunk == NULL)
        return false;
    chunk->older = arena->chunks;
    chunk->size = size;
    arena->chunks = chunk;
    arena->next = chunk->pieces;
    arena->left = size - sizeof(*chunk);
    return true;
}

void *arena_take(struct arena *arena, size_t size)
{
    if (arena->failed)
        return NULL;
    const bool absurd = size > SIZE_MAX / 2;
    const size_t needed = absurd ? 0 : (size + PIECE_ALIGNMENT - 1) / PIECE_ALIGNMENT * PIECE_ALIGNMENT;
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

char *arena_print(struct arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *text = arena_take(arena, length >= 0 ? (size_t)length + 1 : SIZE_MAX);
    va_start(arguments, format);
    if (text != NULL)
        (void)vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    return text;
}
