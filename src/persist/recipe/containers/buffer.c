/*
 * buffer.c - composes records in a byte array that grows; see buffer.h.
 */
#include "persist/recipe/containers/buffer.h"

#include <string.h>

#include "persist/base/memory.h"
#include "util/little_endian.h"

#define LEAST_CAPACITY 256u

void recipe_buffer_init(struct recipe_buffer *buffer, const ingot_allocator_t *allocator)
{
    *buffer = (struct recipe_buffer){.allocator = allocator};
}

void recipe_buffer_fini(struct recipe_buffer *buffer)
{
    memory_free(buffer->allocator, buffer->bytes, buffer->capacity);
    *buffer = (struct recipe_buffer){.allocator = buffer->allocator};
}

static bool grow(struct recipe_buffer *buffer, size_t size)
{
    if (size > SIZE_MAX / 4 - buffer->size)
        return false;
    const size_t wanted = buffer->size + size;
    size_t capacity = buffer->capacity > LEAST_CAPACITY ? buffer->capacity : LEAST_CAPACITY;
    while (capacity < wanted)
        capacity *= 2;
    uint8_t *bytes = memory_allocate(buffer->allocator, capacity);
    if (bytes == NULL)
        return false;
    if (buffer->size != 0)
        memcpy(bytes, buffer->bytes, buffer->size);
    memory_free(buffer->allocator, buffer->bytes, buffer->capacity);
    buffer->bytes = bytes;
    buffer->capacity = capacity;
    return true;
}

uint8_t *recipe_buffer_extend(struct recipe_buffer *buffer, size_t size)
{
    if (buffer->failed || (buffer->capacity - buffer->size < size && !grow(buffer, size))) {
        buffer->failed = true;
        return NULL;
    }
    uint8_t *room = buffer->bytes + buffer->size;
    buffer->size += size;
    return room;
}

void recipe_buffer_put(struct recipe_buffer *buffer, size_t size, const void *bytes)
{
    uint8_t *room = size != 0 ? recipe_buffer_extend(buffer, size) : NULL;
    if (room != NULL)
        memcpy(room, bytes, size);
}

void recipe_buffer_put_u32(struct recipe_buffer *buffer, uint32_t value)
{
    uint8_t *room = recipe_buffer_extend(buffer, sizeof(value));
    if (room != NULL)
        le_put_u32(room, value);
}

void recipe_buffer_put_u64(struct recipe_buffer *buffer, uint64_t value)
{
    uint8_t *room = recipe_buffer_extend(buffer, sizeof(value));
    if (room != NULL)
        le_put_u64(room, value);
}
