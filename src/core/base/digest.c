/*
 * digest.c - the two hashes; see digest.h.
 */
#include "core/base/digest.h"

#include <sodium.h>
#include <xxhash.h>

#include "core/base/digest_avx2.h"

struct hash128 hash128_of(size_t size, const void *bytes)
{
    if (digest_has_avx2())
        return hash128_avx2(size, bytes);
    const XXH128_hash_t hash = XXH3_128bits(bytes, size);
    return (struct hash128){hash.low64, hash.high64};
}

void digest_of(size_t size, const void *bytes, uint8_t digest[DIGEST_SIZE])
{
    /* The implementation in use before sodium_init is the portable one: same digest, and nothing global is started
     * in an application that may use libsodium itself. It fails for no size. */
    (void)crypto_generichash_blake2b(digest, DIGEST_SIZE, bytes, size, NULL, 0);
}
