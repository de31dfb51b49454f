/*
 * memory.h - allocations that end the process if there is no memory, because the tool has nothing to undo.
 */
#ifndef INGOT_CLI_BASE_MEMORY_H
#define INGOT_CLI_BASE_MEMORY_H

#include <stddef.h>

/* These never return NULL. Free all blocks with free. memory_get returns zeros. */
void *memory_get(size_t size);
char *memory_copy_text(const char *text);
void *memory_copy(size_t size, const void *bytes);
/* Makes room for one more item of item_size bytes after the first `count`. */
void *memory_grow(void *items, size_t count, size_t item_size);

#endif
