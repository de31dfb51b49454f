/*
 * buffer.h - composes records in a byte array that grows.
 *
 * If memory runs out, an append sets `failed`, and later ones do nothing, so callers check once at the end.
 */
#ifndef INGOT_PERSIST_RECIPE_CONTAINERS_BUFFER_H
#define INGOT_PERSIST_RECIPE_CONTAINERS_BUFFER_H

#include <ingot/ingot.h>
#include <stdbool.h>

struct recipe_buffer {
    const ingot_allocator_t *allocator;
    uint8_t *bytes;
    size_t size;
    size_t capacity;
    bool failed;
};

void recipe_buffer_init(struct recipe_buffer *buffer, const ingot_allocator_t *allocator);
void recipe_buffer_fini(struct recipe_buffer *buffer);
/* Appends `size` bytes, which the caller must fill, and returns a pointer to them, or NULL if memory runs out. */
uint8_t *recipe_buffer_extend(struct recipe_buffer *buffer, size_t size);
void recipe_buffer_put(struct recipe_buffer *buffer, size_t size, const void *bytes);
void recipe_buffer_put_u32(struct recipe_buffer *buffer, uint32_t value);
void recipe_buffer_put_u64(struct recipe_buffer *buffer, uint64_t value);

#endif
