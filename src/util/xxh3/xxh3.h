/*
 * xxh3.h - computes XXH3 hashes with xxHash's code, which is compiled into each library of Ingot that hashes.
 *
 * The library libxxhash is not linked. Builds of it differ in the functions that they have, and an application that
 * exports functions of the same names would replace them, perhaps by an early XXH3 with other results.
 *
 * The code is compiled for the oldest processor, for AVX2, which x86-64 processors have had since 2013, and in persist
 * for AVX-512. Without AVX2, checking a blob of megabytes takes as long as the driver takes to load it. AVX-512 is a
 * third faster than AVX2 in a loop, but four times slower while a program is loaded, because the processor slows down
 * when wide instructions follow others. On a Xeon, hashing 12 KB between calls to CUDA's driver took 1.05 us with
 * AVX-512 and 0.26 us with AVX2. Therefore, only long blobs are hashed with AVX-512.
 *
 * On processors other than x86-64, the plain functions use the vector instructions that all of them have.
 */
#ifndef INGOT_UTIL_XXH3_H
#define INGOT_UTIL_XXH3_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct xxh3_words {
    uint64_t low;
    uint64_t high;
};

struct xxh3_words xxh3_128_plain(size_t size, const void *bytes);
uint64_t xxh3_64_plain(size_t size, const void *bytes);

/* True if the processor has AVX2. Only then may the next two functions be called. */
bool xxh3_has_avx2(void);
struct xxh3_words xxh3_128_avx2(size_t size, const void *bytes);
uint64_t xxh3_64_avx2(size_t size, const void *bytes);

/* True if the processor has AVX-512. Only then may the next function be called. */
bool xxh3_has_avx512(void);
struct xxh3_words xxh3_128_avx512(size_t size, const void *bytes);

static inline struct xxh3_words xxh3_128_of(size_t size, const void *bytes)
{
    return xxh3_has_avx2() ? xxh3_128_avx2(size, bytes) : xxh3_128_plain(size, bytes);
}

static inline uint64_t xxh3_64_of(size_t size, const void *bytes)
{
    return xxh3_has_avx2() ? xxh3_64_avx2(size, bytes) : xxh3_64_plain(size, bytes);
}

#endif
