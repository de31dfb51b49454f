/*
 * xxh3_avx512.c - computes XXH3 hashes on x86-64 processors with AVX-512; see xxh3.h.
 */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "util/xxh3/xxh3.h"

bool xxh3_has_avx512(void)
{
#if defined(__AVX512F__)
    return __builtin_cpu_supports("avx512f") != 0;
#else
    return false;
#endif
}

struct xxh3_words xxh3_128_avx512(size_t size, const void *bytes)
{
    const XXH128_hash_t hash = XXH3_128bits(bytes, size);
    return (struct xxh3_words){hash.low64, hash.high64};
}
