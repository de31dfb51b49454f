/*
 * digest_avx2.c - see digest_avx2.h. Compiled for AVX2 on x86-64, with xxHash's code in it.
 */
#define XXH_INLINE_ALL
#include "core/digest_avx2.h"

#include <xxhash.h>

#if defined(__AVX2__)

#include <sys/platform/x86.h> /* of the C library, which has asked processor and system */

bool digest_has_avx2(void)
{
    return CPU_FEATURE_ACTIVE(AVX2);
}

#else

bool digest_has_avx2(void)
{
    return false;
}

#endif

struct hash128 hash128_avx2(size_t size, const void *bytes)
{
    const XXH128_hash_t hash = XXH3_128bits(bytes, size);
    return (struct hash128){hash.low64, hash.high64};
}
