/*
 * digest.h - computes the library's two hashes: XXH3-128 for lookups, BLAKE2b-256 for ids.
 *
 * XXH3 is fast but not collision-resistant, so a match of XXH3 hashes is confirmed by comparing the full contents. An
 * id contains the BLAKE2b hash of content instead of the content itself.
 */
#ifndef INGOT_CORE_BASE_DIGEST_H
#define INGOT_CORE_BASE_DIGEST_H

#include "util/bytes_writer.h"

#define DIGEST_SIZE 32

struct hash128 {
    uint64_t low;
    uint64_t high;
};

struct hash128 hash128_of(size_t size, const void *bytes);
void digest_of(size_t size, const void *bytes, uint8_t digest[DIGEST_SIZE]);
/* Computes the digest of what was written, and frees it. Returns false if memory ran out. */
bool digest_of_written(struct bytes_writer *writer, uint8_t digest[DIGEST_SIZE]);

#endif
