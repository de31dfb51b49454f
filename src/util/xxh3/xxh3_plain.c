/*
 * xxh3_plain.c - computes XXH3 hashes on every processor; see xxh3.h.
 */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "util/xxh3/xxh3.h"

struct xxh3_words xxh3_128_plain(size_t size, const void *bytes)
{
    const XXH128_hash_t hash = XXH3_128bits(bytes, size);
    return (struct xxh3_words){hash.low64, hash.high64};
}

uint64_t xxh3_64_plain(size_t size, const void *bytes)
{
    return XXH3_64bits(bytes, size);
}
