/*
 * checksum_avx2.h - the store's hashes as util/xxh3_avx2.h has them.
 */
#ifndef INGOT_PERSIST_BASE_CHECKSUM_AVX2_H
#define INGOT_PERSIST_BASE_CHECKSUM_AVX2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct checksum_words {
    uint64_t low;
    uint64_t high;
};

bool checksum_has_avx2(void);
/* XXH3-128 and XXH3-64; only if it has. */
struct checksum_words checksum_128_avx2(size_t size, const void *bytes);
uint64_t checksum_64_avx2(size_t size, const void *bytes);

#endif
