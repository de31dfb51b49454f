/*
 * byte_array.h - an array of bytes that grows, also for arrays of structures.
 *
 * If memory runs out, an append sets `failed`, and later ones do nothing, so callers check once at the end.
 */
#ifndef INGOT_PERSIST_BASE_CONTAINERS_BYTE_ARRAY_H
#define INGOT_PERSIST_BASE_CONTAINERS_BYTE_ARRAY_H

#include <ingot/ingot.h>
#include <stdbool.h>

struct byte_array {
    const ingot_allocator_t *allocator;
    uint8_t *bytes;
    size_t size;
    size_t capacity;
    bool failed;
};

void byte_array_init(struct byte_array *array, const ingot_allocator_t *allocator);
void byte_array_fini(struct byte_array *array);
/* Appends `size` bytes, which the caller must fill, and returns a pointer to them, or NULL if memory runs out. */
uint8_t *byte_array_extend(struct byte_array *array, size_t size);
void byte_array_put(struct byte_array *array, size_t size, const void *bytes);
void byte_array_put_u32(struct byte_array *array, uint32_t value);
void byte_array_put_u64(struct byte_array *array, uint64_t value);

#endif
