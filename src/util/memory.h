/*
 * memory.h - allocates memory through the application's allocator: single objects, and arenas.
 *
 * Each object keeps a copy of its allocator, so that it can be freed after all other objects.
 */
#ifndef INGOT_UTIL_MEMORY_H
#define INGOT_UTIL_MEMORY_H

#include <ingot/ingot.h>
#include <stdbool.h>
#include <stdint.h>

extern const ingot_allocator_t memory_c_allocator; /* the C library's */

/* Copies *from, or the C library's allocator if from is NULL, to *out. Rejects a table that lacks a function. */
ingot_status_t memory_init(ingot_allocator_t *out, const ingot_allocator_t *from);

/* These functions return NULL if out of memory. A size of 0 returns a pointer that can be freed. */
void *memory_allocate(const ingot_allocator_t *allocator, size_t size);
void *memory_allocate_zeroed(const ingot_allocator_t *allocator, size_t size);
void *memory_allocate_aligned(const ingot_allocator_t *allocator, size_t size, size_t alignment);
char *memory_make_text(const ingot_allocator_t *allocator, const char *text); /* returns a copy; NULL counts as "" */
/* Frees memory; size must be the allocated size. Does nothing if memory is NULL. */
void memory_free(const ingot_allocator_t *allocator, void *memory, size_t size);
void memory_free_text(const ingot_allocator_t *allocator, char *text);

/*
 * An arena makes many small allocations that are freed together, such as those of one scan of a text. Pieces are never
 * freed one by one. The first allocation that fails sets `failed`, and all later ones fail too, so callers check once
 * at the end. Not thread-safe.
 */
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
__attribute__((format(printf, 2, 3))) char *arena_print(struct arena *arena, const char *format, ...);
/* Returns the total size of all chunks that were allocated. */
size_t arena_size(const struct arena *arena);
/* Discards all pieces; keeps the newest chunk for later pieces. */
void arena_reset(struct arena *arena);

#endif
