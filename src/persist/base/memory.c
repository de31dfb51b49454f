/*
 * memory.c - the caller's allocator, and buffers that remember it.
 *
 * A blob may outlive the storage that it came from, so a copy of the allocator precedes its bytes.
 */
#include "persist/base/memory.h"

#include <ingot/backend.h>
#include <sodium.h>
#include <stdalign.h>
#include <string.h>

#include "util/c_allocator.h"

/* The kernel copies from pages. Some processors take six times as long to copy to 1 to 31 bytes behind a page's start,
 * and a tenth longer to any other place than its start, which matters to large blobs. */
#define BUFFER_ALIGNMENT 64u
#define LARGE_SIZE 65536u
#define LARGE_ALIGNMENT 4096u
#define SECRET_ALIGNMENT ((size_t)65536) /* no page that Linux has by default is larger */

struct buffer_head {
    alignas(max_align_t) ingot_allocator_t allocator;
    size_t size_bytes; /* head, what aligns the bytes, and bytes */
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

/* Whole pages: locking and unlocking concerns pages, and others may have locked theirs. */
static size_t secret_size(size_t size)
{
    return (size + SECRET_ALIGNMENT - 1) / SECRET_ALIGNMENT * SECRET_ALIGNMENT;
}

void *memory_allocate_secret(const ingot_allocator_t *allocator, size_t size)
{
    void *memory = allocator->allocate(allocator->user, secret_size(size), SECRET_ALIGNMENT);
    if (memory == NULL)
        return NULL;
    (void)sodium_mlock(memory, secret_size(size)); /* if the process may not, the secrets are as safe as others' */
    memset(memory, 0, secret_size(size));
    return memory;
}

void memory_free_secret(const ingot_allocator_t *allocator, void *memory, size_t size)
{
    if (memory == NULL)
        return;
    (void)sodium_munlock(memory, secret_size(size)); /* erases it, also if it was not locked */
    allocator->deallocate(allocator->user, memory, secret_size(size));
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
    const size_t alignment = size >= LARGE_SIZE ? LARGE_ALIGNMENT : BUFFER_ALIGNMENT;
    const size_t most_before = sizeof(struct buffer_head) + alignment - 1;
    struct buffer_head *head = size <= SIZE_MAX - most_before ? memory_allocate(allocator, most_before + size) : NULL;
    if (head == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a blob of %zu bytes", size);
    head->allocator = *allocator;
    head->size_bytes = most_before + size;
    *bytes = (uint8_t *)(head + 1);
    *bytes += (alignment - (uintptr_t)*bytes % alignment) % alignment;
    *buffer = (ingot_buffer_t){size, *bytes, release_buffer, head};
    return INGOT_SUCCESS;
}

void memory_release_buffer(ingot_buffer_t *buffer)
{
    if (buffer->release != NULL)
        buffer->release(buffer);
    *buffer = (ingot_buffer_t)INGOT_BUFFER_INIT;
}
