/*
 * digest.c - the two hashes; see digest.h.
 */
#include "core/base/digest.h"

#include <sodium.h>

#include "util/xxh3_avx2.h"

struct hash128 hash128_of(size_t size, const void *bytes)
{
    const struct xxh3_words words = xxh3_128_of(size, bytes);
    return (struct hash128){words.low, words.high};
}

void digest_of(size_t size, const void *bytes, uint8_t digest[DIGEST_SIZE])
{
    /* Without sodium_init the portable implementation runs: it gives the same digest and initializes no global state
     * in an application that may use libsodium itself. It cannot fail for any size. */
    (void)crypto_generichash_blake2b(digest, DIGEST_SIZE, bytes, size, NULL, 0);
}
