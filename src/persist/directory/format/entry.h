/*
 * entry.h - one entry: its directory and the two files in it.
 */
#ifndef INGOT_PERSIST_DIRECTORY_FORMAT_ENTRY_H
#define INGOT_PERSIST_DIRECTORY_FORMAT_ENTRY_H

#include <ingot/storage.h>
#include <stdbool.h>

#include "persist/base/files.h"
#include "persist/directory/format/key_file.h"

/* Where an entry is, and the user that has to own all of it. */
struct entry_place {
    int at;
    const char *path; /* of its directory, below at; shorter than PATH_CAPACITY by the names of the files */
    uint32_t owner;
};

/*
 * Judges the entry's directory; *facts describes what is at its name. INGOT_NOT_FOUND; INGOT_UNTRUSTED: of others,
 * writable by them, or neither directory nor file; INGOT_BLOB_CORRUPT: a file; INGOT_IO_ERROR.
 */
ingot_status_t entry_examine(const struct entry_place *place, struct file_facts *facts);

/*
 * Opens the entry's directory; the caller closes the handle. As long as it is open the files are those
 * of one entry, and no other entry gets its inode. INGOT_NOT_FOUND; INGOT_UNTRUSTED: no directory; INGOT_IO_ERROR.
 */
ingot_status_t entry_pin(const struct entry_place *place, struct entry_place *pinned);

/*
 * Verifies the entry and copies its header and its blob out; a NULL blob verifies key.bin only.
 * INGOT_BLOB_MISMATCH: sound as far as looked at, and of another id. INGOT_BLOB_TRUNCATED, INGOT_BLOB_CORRUPT: bad.
 * INGOT_BLOB_VERSION: of another format. INGOT_UNTRUSTED, INGOT_IO_ERROR, INGOT_OUT_OF_MEMORY.
 */
ingot_status_t entry_read(const struct entry_place *place, size_t id_size, const uint8_t *id,
                          const ingot_allocator_t *allocator, struct key_file *key, ingot_buffer_t *blob);

/* Checks that kernel.bin is there, trusted, and of the size that the header says. Statuses as entry_read. */
ingot_status_t entry_examine_blob(const struct entry_place *place, const struct key_file *key);

/* The same as entry_read for whatever id it has, which is copied out; a NULL blob leaves kernel.bin alone. *key and *id
 * are set as far as they hold, whatever is returned: a size of 0 means that they do not. */
ingot_status_t entry_read_whole(const struct entry_place *place, const ingot_allocator_t *allocator,
                                struct key_file *key, ingot_buffer_t *id, ingot_buffer_t *blob);

/* Reads the header of an entry's key.bin, for orders and totals. Statuses as entry_read. */
ingot_status_t entry_read_header(const struct entry_place *place, struct key_file *key);

/* True if a status means that the entry has to be removed. */
bool entry_is_bad(ingot_status_t status);

/* Returns the bytes of the files that are there. */
uint64_t entry_bytes(int at, const char *entry_path);
/* The same where the header of key.bin was read, which holds only if it says the file's size. */
uint64_t entry_bytes_beside(const struct entry_place *place, const struct key_file *key);
/* Returns when key.bin was last modified; 0 if it is missing. */
uint64_t entry_modified_ns(const struct entry_place *place);

/* Returns the bytes that the two files of such an entry take. */
uint64_t entry_bytes_for(size_t id_size, size_t blob_size);

/* Writes both files into the directory entry_path below at; sets *created_ns to the time that they have. */
ingot_status_t entry_write(int at, const char *entry_path, size_t id_size, const uint8_t *id, size_t blob_size,
                           const uint8_t *blob, bool is_durable, uint64_t *created_ns);

#endif
