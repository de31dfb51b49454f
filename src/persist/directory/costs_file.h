/*
 * costs_file.h - reads and writes costs.bin: programs of a namespace that cost too much to store.
 */
#ifndef INGOT_PERSIST_DIRECTORY_COSTS_FILE_H
#define INGOT_PERSIST_DIRECTORY_COSTS_FILE_H

#include <stddef.h>
#include <stdint.h>

/* Operations of a directory store; see struct storage_own_ops. */
uint64_t costs_file_get_ns(void *self, size_t id_size, const uint8_t *id);
void costs_file_set_ns(void *self, size_t id_size, const uint8_t *id, uint64_t cost_ns);

#endif
