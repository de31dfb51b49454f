/*
 * handles.c - the table that maps pointers to shadows: a hash table with chains.
 *
 * Its size is fixed, because applications have at most a few thousand programs.
 */
#include "layers/opencl/program/handles.h"

#include <stdint.h>

#define BUCKET_BITS 12u

static struct handle *buckets[1u << BUCKET_BITS]; /* guarded by the lock */

static struct handle **handle_bucket_of(const void *key)
{
    const uint64_t mixed = (uint64_t)(uintptr_t)key * 0x9e3779b97f4a7c15u;
    return &buckets[mixed >> (64 - BUCKET_BITS)];
}

void handles_add(struct handle *handle, const void *key, struct shadow *shadow)
{
    struct handle **bucket = handle_bucket_of(key);
    *handle = (struct handle){key, shadow, *bucket};
    *bucket = handle;
}

void handles_remove(struct handle *handle)
{
    if (handle->key == NULL)
        return;
    struct handle **place = handle_bucket_of(handle->key);
    while (*place != handle)
        place = &(*place)->next;
    *place = handle->next;
    handle->key = NULL;
}

struct shadow *handles_find(const void *key)
{
    const struct handle *handle = *handle_bucket_of(key);
    while (handle != NULL && handle->key != key)
        handle = handle->next;
    return handle != NULL ? handle->shadow : NULL;
}
