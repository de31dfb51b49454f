/*
 * xxh3_avx2.h - XXH3 with the vector instructions that processors of x86-64 have had since 2013.
 *
 * A distribution builds xxHash for its oldest processor, and checking a blob of megabytes with that costs as much as
 * the driver's own loading. xxHash can choose at run time, but then takes AVX-512 where there is any. That is a third
 * faster in a loop, and four times slower in a load: on a Xeon, between calls to CUDA's driver, 12 KB took 1.05 us with
 * it and 0.26 us with AVX2, since such a processor runs slowly when it meets wide instructions after others.
 *
 * For one file of each library, which has xxHash's code in it and is compiled by ingot_compile_for_avx2.
 */
#ifndef INGOT_UTIL_XXH3_AVX2_H
#define INGOT_UTIL_XXH3_AVX2_H

#include <stdbool.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#if defined(__AVX2__)

#include <sys/platform/x86.h> /* of the C library, which has asked processor and system */

static inline bool xxh3_has_avx2(void)
{
    return CPU_FEATURE_ACTIVE(AVX2);
}

#else

static inline bool xxh3_has_avx2(void)
{
    return false;
}

#endif

#endif
