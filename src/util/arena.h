/*
 * arena.h - makes many small allocations that are freed together, such as those of one scan of a text.
 *
 * Pieces are never freed one by one. The first allocation that fails sets `failed`, and all later ones fail too, so
 * callers check once at the end. Not thread-safe.
 */
#ifndef INGOT_UTIL_ARENA_H
#define INGOT_UTIL_ARENA_H

#include <ingot/ingot.h>
#include <stdbool.h>
#include <stdint.h>

struct arena_chunk;

struct arena {
    const ingot_allocator_t *allocator;
    struct arena_chunk *chunks; /* the newest chunk, which links to the older ones */
    uint8_t *next;              /* where the next piece begins */
    size_t left;                /* bytes left in the chunk after `next` */
    bool failed;
};

void arena_init(struct arena *arena, const ingot_allocator_t *allocator);
void arena_fini(struct arena *arena);
/* Returns zeroed memory, or NULL if out of memory. */
void *arena_take(struct arena *arena, size_t size);
/* Copies `size` bytes of text and adds a NUL. */
char *arena_copy(struct arena *arena, size_t size, const void *text);
/* Returns the total size of all chunks that were allocated. */
size_t arena_size(const struct arena *arena);
/* Discards all pieces; keeps the newest chunk for later pieces. */
void arena_reset(struct arena *arena);

#endif
