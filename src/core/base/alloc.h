/*
 * alloc.h - memory through the application's allocator.
 *
 * Every object remembers the allocator it came from by value, so that it can be freed whatever else has gone.
 */
#ifndef INGOT_CORE_BASE_ALLOC_H
#define INGOT_CORE_BASE_ALLOC_H

#include <ingot/ingot.h>

/* Fills *out with *from, or with the C library's allocator for NULL; rejects half a table. */
ingot_status_t alloc_init(ingot_allocator_t *out, const ingot_allocator_t *from);

/* NULL when memory is short; size 0 gives a pointer that may be freed. */
void *alloc_bytes(const ingot_allocator_t *allocator, size_t size);
void *alloc_zeroed(const ingot_allocator_t *allocator, size_t size);
void *alloc_aligned(const ingot_allocator_t *allocator, size_t size, size_t alignment);
char *alloc_text(const ingot_allocator_t *allocator, const char *text); /* a copy; NULL text is "" */
/* size as it was allocated; NULL does nothing. */
void alloc_free(const ingot_allocator_t *allocator, void *memory, size_t size);
void alloc_free_text(const ingot_allocator_t *allocator, char *text);

#endif
