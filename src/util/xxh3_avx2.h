/*
 * xxh3_avx2.h - XXH3 with the vector instructions that processors of x86-64 have had since 2013.
 *
 * A distribution builds xxHash for the oldest processor that it supports. With that build, checking a blob of megabytes
 * takes as long as the driver takes to load it. xxHash can choose at run time, but then prefers AVX-512, which is a
 * third faster in a loop but four times slower in a load: on a Xeon, between calls to CUDA's driver, 12 KB took 1.05 us
 * with AVX-512 and 0.26 us with AVX2, because such a processor slows down when wide instructions follow others.
 *
 * Each library that hashes compiles xxh3_avx2.c with ingot_compile_for_avx2, and calls xxh3_128_of and xxh3_64_of.
 */
#ifndef INGOT_UTIL_XXH3_AVX2_H
#define INGOT_UTIL_XXH3_AVX2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xxhash.h>

struct xxh3_words {
    uint64_t low;
    uint64_t high;
};

bool xxh3_has_avx2(void);
/* Returns true if the processor has AVX2. The next two functions may be called only then. */
struct xxh3_words xxh3_128_avx2(size_t size, const void *bytes);
uint64_t xxh3_64_avx2(size_t size, const void *bytes);

static inline struct xxh3_words xxh3_128_of(size_t size, const void *bytes)
{
    if (xxh3_has_avx2())
        return xxh3_128_avx2(size, bytes);
    const XXH128_hash_t hash = XXH3_128bits(bytes, size);
    const struct xxh3_words words = {hash.low64, hash.high64};
    return words;
}

static inline uint64_t xxh3_64_of(size_t size, const void *bytes)
{
    return xxh3_has_avx2() ? xxh3_64_avx2(size, bytes) : XXH3_64bits(bytes, size);
}

#endif
