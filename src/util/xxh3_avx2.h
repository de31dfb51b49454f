/*
 * xxh3_avx2.h - computes XXH3 hashes with AVX2, the vector instructions that x86-64 processors have had since 2013.
 *
 * A distribution builds xxHash for the oldest processor that it supports. With that build, checking a blob of megabytes
 * takes as long as the driver takes to load it. xxHash can choose instructions at run time, but then prefers AVX-512.
 * That is a third faster than AVX2 in a loop, but four times slower while a program is loaded, because the processor
 * slows down when wide instructions follow others. On a Xeon, hashing 12 KB between calls to CUDA's driver took 1.05 us
 * with AVX-512 and 0.26 us with AVX2.
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

/* True if the processor has AVX2. Only then may the next two functions be called. */
bool xxh3_has_avx2(void);
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
