/*
 * memory.c - allocates buffers with the caller's allocator, and memory for secrets.
 *
 * A blob may outlive the storage that loaded it, so a copy of the allocator is stored in front of the blob's bytes.
 */
#include "persist/base/base.h"

#include <ingot/backend.h>
#include <sodium.h>
#include <stdalign.h>
#include <sys/mman.h>
#include <unistd.h>

/* Alignment of a blob's bytes. A blob of 4 KiB or more begins at a multiple of 4 KiB. On some processors, the kernel
 * copies fastest to the start of a page, and a copy to an address 1 to 31 bytes after it takes six times as long. With
 * this alignment, a load of 4 KiB is 5% faster. On systems with larger pages, the alignment is still 4 KiB, because a
 * larger one would cost more memory per blob. */
#define BUFFER_ALIGNMENT 64u
#define LARGE_BUFFER_ALIGNMENT 4096u

struct buffer_head {
    alignas(max_align_t) ingot_allocator_t allocator;
    size_t size_bytes; /* of the whole allocation, including the padding and the blob's bytes */
};

static size_t secret_size(size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (size + page - 1) / page * page;
}

void *memory_map_secret(size_t size)
{
    void *memory = mmap(NULL, secret_size(size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    (void)sodium_mlock(memory, secret_size(size)); /* if this fails, the secrets are only as safe as other memory */
    return memory;
}

void memory_unmap_secret(void *memory, size_t size)
{
    if (memory == NULL)
        return;
    (void)sodium_munlock(memory, secret_size(size)); /* erases the memory even if it was not locked */
    (void)munmap(memory, secret_size(size));
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
    const size_t alignment = size >= LARGE_BUFFER_ALIGNMENT ? LARGE_BUFFER_ALIGNMENT : BUFFER_ALIGNMENT;
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
