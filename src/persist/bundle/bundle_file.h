/*
 * bundle_file.h - encodes and decodes the header and the index of a bundle; see doc/bundle-format.md.
 */
#ifndef INGOT_PERSIST_BUNDLE_BUNDLE_FILE_H
#define INGOT_PERSIST_BUNDLE_BUNDLE_FILE_H

#include <ingot/ingot.h>

#include "persist/base/base.h"

#define BUNDLE_HEADER_SIZE 128u
#define BUNDLE_RECORD_SIZE 64u
#define BUNDLE_ALIGNMENT 8u

/* A record of the index. It describes one entry. */
struct bundle_record {
    uint64_t hash;
    uint64_t id_offset;
    uint64_t id_size;
    uint64_t blob_offset;
    uint64_t blob_size;
    uint64_t created_ns;
    struct checksum blob_checksum;
};

/* A bundle file with a valid header. The caller owns the index. */
struct bundle_file {
    uint64_t entry_count;
    uint64_t index_offset;
    struct checksum index_checksum;
    const uint8_t *index; /* entry_count records */
};

/*
 * Verifies the header of a file of file_size bytes; `header` has the first header_size bytes of the file. On success,
 * the index is known to be within the file. Otherwise returns INGOT_BLOB_TRUNCATED, INGOT_BLOB_CORRUPT or
 * INGOT_BLOB_VERSION.
 */
ingot_status_t bundle_file_parse(struct bundle_file *file, uint64_t file_size, size_t header_size,
                                 const uint8_t *header);
/* Verifies the index, and that every range of every record is within the file. Otherwise returns INGOT_BLOB_CORRUPT. */
ingot_status_t bundle_file_take_index(struct bundle_file *file, const uint8_t *index);

struct bundle_record bundle_file_record(const struct bundle_file *file, uint64_t number);
void bundle_file_encode_record(const struct bundle_record *record, uint8_t bytes[BUNDLE_RECORD_SIZE]);

/* Returns the number of the first record whose hash is at least `hash`, or entry_count if there is none. */
uint64_t bundle_file_lower_bound(const struct bundle_file *file, uint64_t hash);

/* Encodes the header of a bundle whose index has entry_count records and begins at index_offset. */
void bundle_file_encode_header(uint8_t header[BUNDLE_HEADER_SIZE], uint64_t entry_count, uint64_t index_offset,
                               uint64_t created_ns, const struct checksum *index_checksum);

#endif
