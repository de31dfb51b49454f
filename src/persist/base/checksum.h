/*
 * checksum.h - computes the hashes that a store uses: checksums, in the byte order of its files, and short hashes.
 */
#ifndef INGOT_PERSIST_BASE_CHECKSUM_H
#define INGOT_PERSIST_BASE_CHECKSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHECKSUM_SIZE 16

struct checksum {
    uint8_t bytes[CHECKSUM_SIZE];
};

/* Returns the XXH3-128 hash of size bytes. */
struct checksum checksum_of(size_t size, const void *bytes);

/* True if the bytes match the checksum. */
bool checksum_holds(const struct checksum *checksum, size_t size, const void *bytes);

/* Returns the XXH3-64 hash of an id or a name. */
uint64_t checksum_bucket_of(size_t size, const uint8_t *id);

#endif
