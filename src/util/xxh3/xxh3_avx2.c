/*
 * xxh3_avx2.c - computes XXH3 hashes on x86-64 processors with AVX2; see xxh3.h.
 */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "util/xxh3/xxh3.h"

bool xxh3_has_avx2(void)
{
#if defined(__AVX2__)
    return __builtin_cpu_supports("avx2") != 0;
#else
    return false;
#endif
}

struct xxh3_words xxh3_128_avx2(size_t size, const void *bytes)
{
    const XXH128_hash_t hash = XXH3_128bits(bytes, size);
    return (struct xxh3_words){hash.low64, hash.high64};
}

uint64_t xxh3_64_avx2(size_t size, const void *bytes)
{
    return XXH3_64bits(bytes, size);
}
