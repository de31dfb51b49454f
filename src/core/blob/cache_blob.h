/*
 * cache_blob.h - the blob's format: writing one, and verifying all of one before anything else sees it.
 *
 * doc/blob-format.md specifies it to the byte. A blob comes from anywhere and is trusted in nothing.
 */
#ifndef INGOT_CORE_BLOB_CACHE_BLOB_H
#define INGOT_CORE_BLOB_CACHE_BLOB_H

#include <ingot/backend.h>

#include "core/base/bytes.h"
#include "core/base/digest.h"

struct blob_section {
    const uint8_t *identity_digest; /* DIGEST_SIZE bytes: of the device the binary is for */
    ingot_binary_t binary;
};

/* What a blob says. Pointers go into the blob. */
struct blob_view {
    const uint8_t *library_digest; /* DIGEST_SIZE bytes each */
    const uint8_t *program_digest;
    size_t names_size;
    const char *names; /* kernel names, sorted, each with its NUL */
    size_t log_size;
    const char *log; /* without NUL */
    uint32_t section_count;
    const uint8_t *section_table;
    const uint8_t *first_binary;
};

/* Sections in any order; they are written in that of their digests. Fails by writer->failed. */
void blob_write(struct bytes_writer *writer, const struct blob_view *view, struct blob_section *sections);

/* Verifies everything but whether it is the wanted program: INGOT_BLOB_TRUNCATED, _CORRUPT, _VERSION. */
ingot_status_t blob_read(struct blob_view *view, size_t size, const uint8_t *blob);

/* Digest of the identity of section @p index < section_count, and the size of its binary. */
const uint8_t *blob_section_at(const struct blob_view *view, uint32_t index, uint64_t *binary_size);

/* The binary for a device, or bytes NULL where the blob has none. */
ingot_binary_t blob_find_section(const struct blob_view *view, const uint8_t identity_digest[DIGEST_SIZE]);

#endif
