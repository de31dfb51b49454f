/*
 * bundle_file.h - the bytes of a bundle, as doc/bundle-format.md has them.
 */
#ifndef INGOT_PERSIST_BUNDLE_FILE_H
#define INGOT_PERSIST_BUNDLE_FILE_H

#include <ingot/ingot.h>

#include "persist/checksum.h"

#define BUNDLE_HEADER_SIZE 128u
#define BUNDLE_RECORD_SIZE 64u
#define BUNDLE_ALIGNMENT 8u

/* One record of the index. */
struct bundle_record {
    uint64_t hash;
    uint64_t id_offset;
    uint64_t id_size;
    uint64_t blob_offset;
    uint64_t blob_size;
    uint64_t created_ns;
    struct checksum blob_checksum;
};

/* A file whose header and index hold. */
struct bundle_file {
    size_t size;
    const uint8_t *bytes;
    const uint8_t *index;
    uint64_t entry_count;
};

/* Verifies header and index of such a file. INGOT_BLOB_TRUNCATED, INGOT_BLOB_CORRUPT, INGOT_BLOB_VERSION. */
ingot_status_t bundle_file_parse(struct bundle_file *file, size_t size, const uint8_t *bytes);

struct bundle_record bundle_file_record(const struct bundle_file *file, uint64_t number);
void bundle_file_encode_record(const struct bundle_record *record, uint8_t bytes[BUNDLE_RECORD_SIZE]);

/* The record of an id. INGOT_NOT_FOUND. */
ingot_status_t bundle_file_find(const struct bundle_file *file, size_t id_size, const uint8_t *id,
                                uint64_t *number, struct bundle_record *record);

/* A header for an index of so many records at this offset. */
void bundle_file_encode_header(uint8_t header[BUNDLE_HEADER_SIZE], uint64_t entry_count, uint64_t index_offset,
                               uint64_t created_ns, const struct checksum *index_checksum);

#endif
