/*
 * entry.h - reads and writes one entry: its directory and the two files in it.
 */
#ifndef INGOT_PERSIST_DIRECTORY_FORMAT_ENTRY_H
#define INGOT_PERSIST_DIRECTORY_FORMAT_ENTRY_H

#include <ingot/storage.h>
#include <stdbool.h>

#include "persist/base/files.h"
#include "persist/directory/format/key_file.h"

/* Which part of Ingot checks a blob's bytes. */
enum blob_check { BLOB_CHECKED_HERE, BLOB_CHECKED_BY_CORE };

/* The place of an entry, the user that must own all of it, and how it is read. */
struct entry_place {
    int at;
    const char *path; /* path of its directory, below at; leaves room in PATH_CAPACITY for the files' names */
    uint32_t owner;
    enum blob_check check;
};

/*
 * Checks the entry's directory; *facts describes the object with its name. INGOT_NOT_FOUND; INGOT_UNTRUSTED: another
 * user owns it or may write it, or it is neither a directory nor a file; INGOT_BLOB_CORRUPT: it is a file;
 * INGOT_IO_ERROR.
 */
ingot_status_t entry_examine(const struct entry_place *place, struct file_facts *facts);

/*
 * Opens the entry's directory; the caller closes the handle. While it is open, the files belong to one entry, and no
 * other entry gets its inode. INGOT_NOT_FOUND; INGOT_UNTRUSTED: not a directory; INGOT_IO_ERROR.
 */
ingot_status_t entry_pin(const struct entry_place *place, struct entry_place *pinned);

/*
 * Verifies the entry and copies its header and its blob out; a NULL blob verifies key.bin only. If the core checks the
 * blob, only its size is checked. INGOT_BLOB_MISMATCH:
 * the part that was read is valid, but belongs to another id. INGOT_BLOB_TRUNCATED, INGOT_BLOB_CORRUPT: the entry is
 * damaged. INGOT_BLOB_VERSION: it has another format. INGOT_UNTRUSTED, INGOT_IO_ERROR, INGOT_OUT_OF_MEMORY.
 */
ingot_status_t entry_read(const struct entry_place *place, size_t id_size, const uint8_t *id,
                          const ingot_allocator_t *allocator, struct key_file *key, ingot_buffer_t *blob);

/* Checks that kernel.bin exists, is trusted, and has the size that the header says. Returns the statuses of
 * entry_read. */
ingot_status_t entry_examine_blob(const struct entry_place *place, const struct key_file *key);

/* Does the same as entry_read for any id, and copies the id out. If blob is NULL, does not read kernel.bin. *key and
 * *id are set if they are valid, whatever the status; a size of 0 means that they are not. */
ingot_status_t entry_read_whole(const struct entry_place *place, const ingot_allocator_t *allocator,
                                struct key_file *key, ingot_buffer_t *id, ingot_buffer_t *blob);

/* Reads the header of an entry's key.bin, for sorting and counting. Returns the statuses of entry_read. */
ingot_status_t entry_read_header(const struct entry_place *place, struct key_file *key);

/* True if a status means that the entry has to be removed. */
bool entry_is_bad(ingot_status_t status);

/* Returns the total size of those of its files that exist. */
uint64_t entry_bytes(int at, const char *entry_path);
/* Does the same after the header of key.bin was read; the header is valid only if its sizes match the file's. */
uint64_t entry_bytes_beside(const struct entry_place *place, const struct key_file *key);
/* Returns when key.bin was last modified; 0 if it is missing. */
uint64_t entry_modified_ns(const struct entry_place *place);

/* Returns the total size of the two files of an entry whose id and blob have these sizes. */
uint64_t entry_bytes_for(size_t id_size, size_t blob_size);

/* Writes both files into the directory entry_path below at. Sets *created_ns to their creation time. */
ingot_status_t entry_write(int at, const char *entry_path, size_t id_size, const uint8_t *id, size_t blob_size,
                           const uint8_t *blob, bool is_durable, uint64_t *created_ns);

#endif
