/*
 * cache_blob.h - writes and reads the format of blobs, and verifies a whole blob before other code sees it.
 *
 * doc/blob-format.md specifies every byte. Blobs may come from anywhere, so nothing in them is trusted.
 */
#ifndef INGOT_CORE_BLOB_CACHE_BLOB_H
#define INGOT_CORE_BLOB_CACHE_BLOB_H

#include <ingot/backend.h>

#include "core/base/bytes.h"
#include "core/base/digest.h"

struct blob_section {
    const uint8_t *identity_digest; /* DIGEST_SIZE bytes that identify the binary's device, driver and compiler */
    ingot_binary_t binary;
};

/* The content of a blob. After blob_read, all pointers point into the blob. */
struct blob_view {
    const uint8_t *library_digest; /* DIGEST_SIZE bytes, like request_digest; for both, see program_desc.h */
    const uint8_t *request_digest;
    size_t names_size;
    const char *names; /* kernel names, sorted, each followed by a NUL */
    size_t log_size;
    const char *log; /* without a NUL, like source_name */
    size_t source_name_size;
    const char *source_name; /* the name of the program's first source */
    size_t files_size;
    const uint8_t *files; /* the included files, for people: for each, its digest and framed name */
    uint64_t build_ns;    /* how long compiling took; 0 if unknown */
    uint32_t section_count;
    const uint8_t *section_table;
    const uint8_t *first_binary;
};

/* Writes a blob. The sections may be in any order; they are sorted by their digests, in place. Sets writer->failed
 * if out of memory. */
void blob_write(struct bytes_writer *writer, const struct blob_view *view, struct blob_section *sections);

/* Verifies everything except which program the blob is for. Returns INGOT_BLOB_TRUNCATED, INGOT_BLOB_CORRUPT or
 * INGOT_BLOB_VERSION if the blob is invalid. */
ingot_status_t blob_read(struct blob_view *view, size_t size, const uint8_t *blob);

/* True if the bytes are a list of included files, without NUL in a name. */
bool blob_files_are_whole(size_t size, const uint8_t *bytes);
/* Reads the next included file of such a list. Returns its digest, or NULL at the end. */
const uint8_t *blob_next_file(struct bytes_reader *files, size_t *name_size, const char **name);

/* Returns the digest of a section's device identity, and sets *binary_size. `index` must be less than section_count. */
const uint8_t *blob_section_at(const struct blob_view *view, uint32_t index, uint64_t *binary_size);

/* Returns the binary for devices with this identity. Its bytes are NULL if the blob has none. */
ingot_binary_t blob_find_section(const struct blob_view *view, const uint8_t identity_digest[DIGEST_SIZE]);

#endif
