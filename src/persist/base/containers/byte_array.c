/*
 * byte_array.c - an array of bytes that grows, also for arrays of structures; see byte_array.h.
 */
#include "persist/base/containers/byte_array.h"

#include <string.h>

#include "persist/base/memory.h"
#include "util/little_endian.h"

#define LEAST_CAPACITY 256u

void byte_array_init(struct byte_array *array, const ingot_allocator_t *allocator)
{
    *array = (struct byte_array){.allocator = allocator};
}

void byte_array_fini(struct byte_array *array)
{
    memory_free(array->allocator, array->bytes, array->capacity);
    *array = (struct byte_array){.allocator = array->allocator};
}

static bool grow(struct byte_array *array, size_t size)
{
    if (size > SIZE_MAX / 4 - array->size)
        return false;
    const size_t wanted = array->size + size;
    size_t capacity = array->capacity > LEAST_CAPACITY ? array->capacity : LEAST_CAPACITY;
    while (capacity < wanted)
        capacity *= 2;
    uint8_t *bytes = memory_allocate(array->allocator, capacity);
    if (bytes == NULL)
        return false;
    if (array->size != 0)
        memcpy(bytes, array->bytes, array->size);
    memory_free(array->allocator, array->bytes, array->capacity);
    array->bytes = bytes;
    array->capacity = capacity;
    return true;
}

uint8_t *byte_array_extend(struct byte_array *array, size_t size)
{
    if (array->failed || (array->capacity - array->size < size && !grow(array, size))) {
        array->failed = true;
        return NULL;
    }
    uint8_t *room = array->bytes + array->size;
    array->size += size;
    return room;
}

void byte_array_put(struct byte_array *array, size_t size, const void *bytes)
{
    uint8_t *room = size != 0 ? byte_array_extend(array, size) : NULL;
    if (room != NULL)
        memcpy(room, bytes, size);
}

void byte_array_put_u32(struct byte_array *array, uint32_t value)
{
    uint8_t *room = byte_array_extend(array, sizeof(value));
    if (room != NULL)
        le_put_u32(room, value);
}

void byte_array_put_u64(struct byte_array *array, uint64_t value)
{
    uint8_t *room = byte_array_extend(array, sizeof(value));
    if (room != NULL)
        le_put_u64(room, value);
}
