/*
 * backend_memory.c - allocates a backend's objects with the application's allocator.
 *
 * A backend allocates before its context exists, when the application's allocator is not checked yet. If that allocator
 * is missing or incomplete, the C library's allocator is used.
 */
#include <ingot/backend.h>

#include "util/memory.h"
#include "util/struct_size.h"

static ingot_allocator_t get_usable_allocator(const ingot_allocator_t *allocator)
{
    ingot_allocator_t usable;
    if (memory_init(&usable, allocator) != INGOT_SUCCESS)
        (void)memory_init(&usable, NULL);
    return usable;
}

void *ingot_allocate(const ingot_allocator_t *allocator, size_t size)
{
    const ingot_allocator_t usable = get_usable_allocator(allocator);
    return memory_allocate_zeroed(&usable, size);
}

void ingot_deallocate(const ingot_allocator_t *allocator, void *memory, size_t size)
{
    const ingot_allocator_t usable = get_usable_allocator(allocator);
    memory_free(&usable, memory, size);
}

ingot_allocator_t ingot_context_info_get_allocator(const ingot_context_info_t *info)
{
    const ingot_allocator_t none = {NULL, NULL, NULL};
    ingot_context_info_t known;

    return STRUCT_READ(known, info) && known.allocator != NULL ? *known.allocator : none;
}
