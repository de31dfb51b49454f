/*
 * memory.h - allocates with the caller's allocator, and makes buffers that remember it.
 */
#ifndef INGOT_PERSIST_BASE_MEMORY_H
#define INGOT_PERSIST_BASE_MEMORY_H

#include <ingot/storage.h>

/* Copies the caller's allocator, or the C library's for NULL. Returns INGOT_INVALID_ARGUMENTS if it is incomplete. */
ingot_status_t memory_init(ingot_allocator_t *allocator, const ingot_allocator_t *wanted);

/* Allocates memory for any object. Returns NULL if there is not enough. The memory must be freed with the same size;
 * freeing Does nothing for NULL. */
void *memory_allocate(const ingot_allocator_t *allocator, size_t size);
void memory_free(const ingot_allocator_t *allocator, void *memory, size_t size);

/* Maps zeroed memory for secrets, on separate pages that are neither swapped out nor dumped if the process may ask
 * for that. Does not use an allocator, because locks apply to whole pages, and an application's allocator may not
 * align to pages. Returns NULL if there is not enough memory. unmap_secret erases the memory; it does nothing for
 * NULL. */
void *memory_map_secret(size_t size);
void memory_unmap_secret(void *memory, size_t size);

/*
 * Makes a buffer of size bytes in one allocation. Its release frees it and needs no other object. *bytes is the same
 * memory, for the caller to fill.
 */
ingot_status_t memory_make_buffer(const ingot_allocator_t *allocator, size_t size, ingot_buffer_t *buffer,
                                  uint8_t **bytes);

/* Calls the buffer's release, if it has one, and empties the buffer. */
void memory_release_buffer(ingot_buffer_t *buffer);

#endif
