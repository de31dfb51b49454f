/*
 * alloc.h - allocates memory through the application's allocator.
 *
 * Each object keeps a copy of its allocator, so that it can be freed after all other objects.
 */
#ifndef INGOT_CORE_BASE_ALLOC_H
#define INGOT_CORE_BASE_ALLOC_H

#include <ingot/ingot.h>

/* Copies *from, or the C library's allocator if from is NULL, to *out. Rejects a table that lacks a function. */
ingot_status_t alloc_init(ingot_allocator_t *out, const ingot_allocator_t *from);

/* These functions return NULL if out of memory. A size of 0 returns a pointer that can be freed. */
void *alloc_bytes(const ingot_allocator_t *allocator, size_t size);
void *alloc_zeroed(const ingot_allocator_t *allocator, size_t size);
void *alloc_aligned(const ingot_allocator_t *allocator, size_t size, size_t alignment);
char *alloc_text(const ingot_allocator_t *allocator, const char *text); /* returns a copy; NULL counts as "" */
/* Frees memory; size must be the allocated size. Does nothing if memory is NULL. */
void alloc_free(const ingot_allocator_t *allocator, void *memory, size_t size);
void alloc_free_text(const ingot_allocator_t *allocator, char *text);

#endif
