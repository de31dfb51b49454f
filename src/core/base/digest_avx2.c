/*
 * digest_avx2.c - see digest_avx2.h. Compiled for AVX2 on x86-64.
 */
#include "core/base/digest_avx2.h"

#include "util/xxh3_avx2.h"

bool digest_has_avx2(void)
{
    return xxh3_has_avx2();
}

struct hash128 hash128_avx2(size_t size, const void *bytes)
{
    const XXH128_hash_t hash = XXH3_128bits(bytes, size);
    return (struct hash128){hash.low64, hash.high64};
}
