/*
 * checksum.c - computes the hashes that a store uses; see base.h.
 *
 * AVX2 is best for ids and most blobs. Wider instructions have a start-up cost, which only long blobs make up for, so
 * only those are hashed with the processor's widest instructions.
 */
#include "persist/base/base.h"

#include <string.h>

#include "util/little_endian.h"
#include "util/xxh3/xxh3.h"

#define LONG_SIZE (256u * 1024u)

struct checksum checksum_of(size_t size, const void *bytes)
{
    const struct xxh3_words words =
        size >= LONG_SIZE && xxh3_has_avx512() ? xxh3_128_avx512(size, bytes) : xxh3_128_of(size, bytes);
    struct checksum checksum;
    le_put_u64(checksum.bytes, words.low);
    le_put_u64(checksum.bytes + 8, words.high);
    return checksum;
}

bool checksum_holds(const struct checksum *checksum, size_t size, const void *bytes)
{
    const struct checksum found = checksum_of(size, bytes);
    return memcmp(found.bytes, checksum->bytes, CHECKSUM_SIZE) == 0;
}

uint64_t checksum_bucket_of(size_t size, const uint8_t *id)
{
    return xxh3_64_of(size, id);
}
