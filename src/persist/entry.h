/*
 * entry.h - one entry's two files, through a handle of its directory.
 */
#ifndef INGOT_PERSIST_ENTRY_H
#define INGOT_PERSIST_ENTRY_H

#include <ingot/storage.h>
#include <stdbool.h>

#include "persist/key_file.h"

/*
 * Verifies the entry and copies its header and its blob out; a NULL blob verifies key.bin only.
 * INGOT_BLOB_MISMATCH: sound as far as looked at, and of another id. INGOT_BLOB_TRUNCATED, INGOT_BLOB_CORRUPT: bad.
 * INGOT_BLOB_VERSION: of another format. INGOT_UNTRUSTED, INGOT_IO_ERROR, INGOT_OUT_OF_MEMORY.
 */
ingot_status_t entry_read(int entry, size_t id_size, const uint8_t *id, const ingot_allocator_t *allocator,
                          struct key_file *key, ingot_buffer_t *blob);

/* The same for whatever id it has, which is copied out; a NULL blob leaves kernel.bin alone. *key and *id are set as
 * far as they hold, whatever is returned: a size of 0 means that they do not. */
ingot_status_t entry_read_whole(int entry, const ingot_allocator_t *allocator, struct key_file *key, ingot_buffer_t *id,
                                ingot_buffer_t *blob);

/* The header of an entry's key.bin, for orders and totals. Statuses as entry_read. */
ingot_status_t entry_read_header(int entry, struct key_file *key);

/* Whether such a status means that the entry is to be taken away. */
bool entry_is_bad(ingot_status_t status);

/* Bytes of the files that are there. */
uint64_t entry_bytes(int at, const char *entry_path);
/* When key.bin was last modified; 0 where there is none. */
uint64_t entry_modified_ns(int entry);

/* What the two files of such an entry take. */
uint64_t entry_bytes_for(size_t id_size, size_t blob_size);

/* Writes both files into the directory entry_path below at. */
ingot_status_t entry_write(int at, const char *entry_path, size_t id_size, const uint8_t *id, size_t blob_size,
                           const uint8_t *blob, bool is_durable);

#endif
