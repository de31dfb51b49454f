/*
 * digest.c - the two hashes; see digest.h.
 *
 * On x86-64 xxHash picks its vector code at run time: the plain entry point has what the distribution's oldest
 * processor can do, and checking a blob of megabytes with it costs as much as the driver's own loading.
 */
#include "core/digest.h"

#include <sodium.h>
#include <xxhash.h>

#if defined(__x86_64__)
#include <xxh_x86dispatch.h>
#endif

struct hash128 hash128_of(size_t size, const void *bytes)
{
#if defined(__x86_64__)
    const XXH128_hash_t hash = XXH3_128bits_dispatch(bytes, size);
#else
    const XXH128_hash_t hash = XXH3_128bits(bytes, size);
#endif
    return (struct hash128){hash.low64, hash.high64};
}

void digest_of(size_t size, const void *bytes, uint8_t digest[DIGEST_SIZE])
{
    /* The implementation in use before sodium_init is the portable one: same digest, and nothing global is started
     * in an application that may use libsodium itself. It fails for no size. */
    (void)crypto_generichash_blake2b(digest, DIGEST_SIZE, bytes, size, NULL, 0);
}
