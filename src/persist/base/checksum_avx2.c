/*
 * checksum_avx2.c - see checksum_avx2.h. Compiled for AVX2 on x86-64.
 */
#include "persist/base/checksum_avx2.h"

#include "util/xxh3_avx2.h"

bool checksum_has_avx2(void)
{
    return xxh3_has_avx2();
}

struct checksum_words checksum_128_avx2(size_t size, const void *bytes)
{
    const XXH128_hash_t hash = XXH3_128bits(bytes, size);
    return (struct checksum_words){hash.low64, hash.high64};
}

uint64_t checksum_64_avx2(size_t size, const void *bytes)
{
    return XXH3_64bits(bytes, size);
}
