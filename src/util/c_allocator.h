/*
 * c_allocator.h - allocates with the C library, for applications that do not provide an allocator.
 */
#ifndef INGOT_UTIL_C_ALLOCATOR_H
#define INGOT_UTIL_C_ALLOCATOR_H

#include <stddef.h>
#include <stdlib.h>

static inline void *c_allocator_allocate(void *user, size_t size, size_t alignment)
{
    (void)user;
    if (alignment <= _Alignof(max_align_t))
        return malloc(size);
    void *memory = NULL;
    return posix_memalign(&memory, alignment, size) == 0 ? memory : NULL;
}

static inline void c_allocator_deallocate(void *user, void *memory, size_t size)
{
    (void)user;
    (void)size;
    free(memory);
}

#endif
