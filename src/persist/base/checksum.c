/*
 * checksum.c - computes the hashes that a store uses; see checksum.h.
 *
 * Plain xxHash is built for the oldest processor that the distribution supports, so hashing with it takes longer than
 * reading the file. AVX2 is best for ids and most blobs. Wider instructions have a start-up cost, which only long blobs
 * make up for, so xxHash may choose the processor's widest instructions only for those.
 */
#include "persist/base/checksum.h"

#include <string.h>

#if defined(__x86_64__)
#include <xxh_x86dispatch.h>
#endif

#include "util/little_endian.h"
#include "util/xxh3_avx2.h"

#define LONG_SIZE (256u * 1024u)

static struct xxh3_words hash_widest(size_t size, const void *bytes)
{
#if defined(__x86_64__)
    const XXH128_hash_t hash = XXH3_128bits_dispatch(bytes, size);
    return (struct xxh3_words){hash.low64, hash.high64};
#else
    return xxh3_128_of(size, bytes);
#endif
}

struct checksum checksum_of(size_t size, const void *bytes)
{
    const struct xxh3_words words = size < LONG_SIZE ? xxh3_128_of(size, bytes) : hash_widest(size, bytes);
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
