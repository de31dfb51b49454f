/*
 * checksum.c - the store's hashes, in the order of bytes in which they are stored.
 *
 * On x86-64 xxHash picks its vector code at run time: the plain entry point has what the distribution's oldest
 * processor can do, which costs more than reading the file does.
 */
#include "persist/checksum.h"

#include <string.h>
#include <xxhash.h>

#if defined(__x86_64__)
#include <xxh_x86dispatch.h>
#endif

#include "persist/bytes.h"

struct checksum checksum_of(size_t size, const void *bytes)
{
#if defined(__x86_64__)
    const XXH128_hash_t hash = XXH3_128bits_dispatch(bytes, size);
#else
    const XXH128_hash_t hash = XXH3_128bits(bytes, size);
#endif
    struct checksum checksum;
    bytes_put_u64(checksum.bytes, hash.low64);
    bytes_put_u64(checksum.bytes + 8, hash.high64);
    return checksum;
}

bool checksum_holds(const struct checksum *checksum, size_t size, const void *bytes)
{
    const struct checksum found = checksum_of(size, bytes);
    return memcmp(found.bytes, checksum->bytes, CHECKSUM_SIZE) == 0;
}

uint64_t checksum_bucket_of(size_t size, const uint8_t *id)
{
#if defined(__x86_64__)
    return XXH3_64bits_dispatch(id, size);
#else
    return XXH3_64bits(id, size);
#endif
}
