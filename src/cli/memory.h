/*
 * memory.h - memory of the tool, which ends where there is none: it changes nothing by itself, so nothing is undone.
 */
#ifndef INGOT_CLI_MEMORY_H
#define INGOT_CLI_MEMORY_H

#include <stddef.h>

/* None returns NULL. All are given back with free. */
void *memory_get(size_t size);
char *memory_copy_text(const char *text);
void *memory_copy(size_t size, const void *bytes);
/* Room for one more item of item_size bytes behind the count that are there. */
void *memory_grow(void *items, size_t count, size_t item_size);

#endif
