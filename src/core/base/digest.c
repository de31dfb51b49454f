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
    /* Ingot does not call sodium_init, so the portable implementation runs. It returns the same digest, and leaves
     * libsodium's global state to an application that may use libsodium itself. It cannot fail for any size. */
    (void)crypto_generichash_blake2b(digest, DIGEST_SIZE, bytes, size, NULL, 0);
}
