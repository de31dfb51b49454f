/*
 * cache_blob.h - the blob's format: writes blobs, and verifies a whole blob before other code sees it.
 *
 * doc/blob-format.md specifies every byte. Blobs may come from anywhere, so nothing in them is trusted.
 */
#ifndef INGOT_CORE_BLOB_CACHE_BLOB_H
#define INGOT_CORE_BLOB_CACHE_BLOB_H

#include <ingot/backend.h>

#include "core/base/bytes.h"
#include "core/base/digest.h"

struct blob_section {
    const uint8_t *identity_digest; /* DIGEST_SIZE bytes; identifies the binary's device */
    ingot_binary_t binary;
};

/* The content of a blob. Pointers point into the blob. */
struct blob_view {
    const uint8_t *library_digest; /* DIGEST_SIZE bytes each */
    const uint8_t *program_digest;
    size_t names_size;
    const char *names; /* kernel names, sorted, each with its NUL */
    size_t log_size;
    const char *log; /* without NUL, like source_name */
    size_t source_name_size;
    const char *source_name; /* of the first source */
    uint64_t build_ns;       /* how long compiling took; 0: unknown */
    uint32_t section_count;
    const uint8_t *section_table;
    const uint8_t *first_binary;
};

/* Writes a blob. Sections may be in any order; they are written in the order of their digests. A failure sets
 * writer->failed. */
void blob_write(struct bytes_writer *writer, const struct blob_view *view, struct blob_section *sections);

/* Verifies everything except which program the blob is for. Returns INGOT_BLOB_TRUNCATED, _CORRUPT or _VERSION. */
ingot_status_t blob_read(struct blob_view *view, size_t size, const uint8_t *blob);

/* Returns the digest of a section's identity and the size of its binary; index must be less than section_count. */
const uint8_t *blob_section_at(const struct blob_view *view, uint32_t index, uint64_t *binary_size);

/* Returns the binary for a device; bytes is NULL if the blob has none. */
ingot_binary_t blob_find_section(const struct blob_view *view, const uint8_t identity_digest[DIGEST_SIZE]);

#endif
