/*
 * alloc.c - allocates through the application's allocator; see alloc.h.
 */
#include "core/base/alloc.h"

#include <string.h>

#include "util/c_allocator.h"

ingot_status_t alloc_init(ingot_allocator_t *out, const ingot_allocator_t *from)
{
    static const ingot_allocator_t c_library = {c_allocator_allocate, c_allocator_deallocate, NULL};

    if (from != NULL && (from->allocate == NULL || from->deallocate == NULL))
        return INGOT_INVALID_ARGUMENTS;
    *out = from != NULL ? *from : c_library;
    return INGOT_SUCCESS;
}

void *alloc_aligned(const ingot_allocator_t *allocator, size_t size, size_t alignment)
{
    return allocator->allocate(allocator->user, size != 0 ? size : 1, alignment);
}

void *alloc_bytes(const ingot_allocator_t *allocator, size_t size)
{
    return alloc_aligned(allocator, size, _Alignof(max_align_t));
}

void *alloc_zeroed(const ingot_allocator_t *allocator, size_t size)
{
    void *memory = alloc_bytes(allocator, size);
    if (memory != NULL)
        memset(memory, 0, size);
    return memory;
}

char *alloc_text(const ingot_allocator_t *allocator, const char *text)
{
    const size_t size = text != NULL ? strlen(text) + 1 : 1;
    char *copy = alloc_bytes(allocator, size);
    if (copy != NULL)
        memcpy(copy, text != NULL ? text : "", size);
    return copy;
}

void alloc_free(const ingot_allocator_t *allocator, void *memory, size_t size)
{
    if (memory != NULL)
        allocator->deallocate(allocator->user, memory, size != 0 ? size : 1);
}

void alloc_free_text(const ingot_allocator_t *allocator, char *text)
{
    if (text != NULL)
        alloc_free(allocator, text, strlen(text) + 1);
}
