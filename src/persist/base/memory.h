/*
 * memory.h - allocates buffers with the caller's allocator, and memory for secrets.
 */
#ifndef INGOT_PERSIST_BASE_MEMORY_H
#define INGOT_PERSIST_BASE_MEMORY_H

#include <ingot/storage.h>

#include "util/memory.h"

/* Maps zeroed memory for secrets on pages of its own. If the process has the right to lock memory, these pages are
 * neither swapped out nor dumped. Only whole pages can be protected in this way, and an application's allocator may not
 * align to pages, so this function uses no allocator. Returns NULL if memory runs out. memory_unmap_secret erases the
 * memory before it unmaps it, and does nothing for NULL. */
void *memory_map_secret(size_t size);
void memory_unmap_secret(void *memory, size_t size);

/*
 * Makes a buffer of `size` bytes in one allocation. *bytes points to its memory, for the caller to fill. Releasing the
 * buffer frees the memory and needs no other object.
 */
ingot_status_t memory_make_buffer(const ingot_allocator_t *allocator, size_t size, ingot_buffer_t *buffer,
                                  uint8_t **bytes);

/* Calls the buffer's release function, if it has one, and empties the buffer. */
void memory_release_buffer(ingot_buffer_t *buffer);

#endif
