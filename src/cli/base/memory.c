/*
 * memory.c - allocations that end the process on failure; see base.h.
 */
#include "cli/base/base.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *require_memory(void *memory)
{
    if (memory == NULL) {
        (void)fputs("ingot: out of memory\n", stderr);
        exit(EXIT_FAILED);
    }
    return memory;
}

void *memory_get(size_t size)
{
    return require_memory(calloc(1, size != 0 ? size : 1));
}

void *memory_copy(size_t size, const void *bytes)
{
    void *copy = memory_get(size);
    if (size != 0)
        memcpy(copy, bytes, size);
    return copy;
}

char *memory_copy_text(const char *text)
{
    return memory_copy(strlen(text) + 1, text);
}

void *memory_grow(void *items, size_t count, size_t item_size)
{
    if ((count & (count - 1)) != 0) /* the block has room up to the next power of two */
        return items;
    const size_t capacity = count != 0 ? count * 2 : 1;
    return require_memory(capacity > SIZE_MAX / item_size ? NULL : realloc(items, capacity * item_size));
}
