/*
 * memory.c - the caller's allocator, and buffers that remember it.
 *
 * A blob may outlive the storage that it came from, so a copy of the allocator precedes its bytes.
 */
#include "persist/base/memory.h"

#include <ingot/backend.h>
#include <stdalign.h>

#include "util/c_allocator.h"

struct buffer_head {
    alignas(max_align_t) ingot_allocator_t allocator;
    size_t size_bytes; /* head and bytes together */
};

ingot_status_t memory_init(ingot_allocator_t *allocator, const ingot_allocator_t *wanted)
{
    if (wanted == NULL) {
        *allocator = (ingot_allocator_t){c_allocator_allocate, c_allocator_deallocate, NULL};
        return INGOT_SUCCESS;
    }
    if (wanted->allocate == NULL || wanted->deallocate == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "an allocator needs both of its functions");
    *allocator = *wanted;
    return INGOT_SUCCESS;
}

void *memory_allocate(const ingot_allocator_t *allocator, size_t size)
{
    return allocator->allocate(allocator->user, size, alignof(max_align_t));
}

void memory_free(const ingot_allocator_t *allocator, void *memory, size_t size)
{
    if (memory != NULL)
        allocator->deallocate(allocator->user, memory, size);
}

static void release_buffer(ingot_buffer_t *buffer)
{
    struct buffer_head *head = buffer->owner;
    const ingot_allocator_t allocator = head->allocator;
    memory_free(&allocator, head, head->size_bytes);
}

ingot_status_t memory_make_buffer(const ingot_allocator_t *allocator, size_t size, ingot_buffer_t *buffer,
                                  uint8_t **bytes)
{
    struct buffer_head *head = NULL;
    if (size <= SIZE_MAX - sizeof(*head))
        head = memory_allocate(allocator, sizeof(*head) + size);
    if (head == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a blob of %zu bytes", size);
    head->allocator = *allocator;
    head->size_bytes = sizeof(*head) + size;
    *bytes = (uint8_t *)(head + 1);
    *buffer = (ingot_buffer_t){size, *bytes, release_buffer, head};
    return INGOT_SUCCESS;
}

void memory_release_buffer(ingot_buffer_t *buffer)
{
    if (buffer->release != NULL)
        buffer->release(buffer);
    *buffer = (ingot_buffer_t)INGOT_BUFFER_INIT;
}
