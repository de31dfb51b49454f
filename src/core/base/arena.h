/*
 * arena.h - many small pieces with one end: what a scan of texts remembers until the scan is over, what one call needs
 * until it returns.
 *
 * Pieces are never freed one by one. The first allocation that fails sets `failed`, and all later ones fail too, so
 * that a long piece of work is checked once, at its end. Not thread-safe.
 */
#ifndef INGOT_CORE_BASE_ARENA_H
#define INGOT_CORE_BASE_ARENA_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/alloc.h"

struct arena_chunk;

struct arena {
    const ingot_allocator_t *allocator;
    struct arena_chunk *chunks; /* newest first */
    uint8_t *next;              /* the next piece */
    size_t left;                /* from there on */
    bool failed;
};

void arena_init(struct arena *arena, const ingot_allocator_t *allocator);
/* Cuts from the caller's memory, aligned as malloc's, first: a call whose pieces fit allocates nothing. */
void arena_init_with(struct arena *arena, const ingot_allocator_t *allocator, size_t size, void *memory);
void arena_fini(struct arena *arena);
/* Zeroed; NULL when out of memory. */
void *arena_take(struct arena *arena, size_t size);
/* size bytes and a NUL. */
char *arena_copy(struct arena *arena, size_t size, const char *text);
/* Forgets all pieces but those in the caller's memory, keeping the newest chunk for what comes next. */
void arena_reset(struct arena *arena);

#endif
