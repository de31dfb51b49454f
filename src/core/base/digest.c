/*
 * digest.c - computes the two hashes; see digest.h.
 */
#include "core/base/digest.h"

#include <sodium.h>

#include "util/xxh3/xxh3.h"

struct hash128 hash128_of(size_t size, const void *bytes)
{
    const struct xxh3_words words = xxh3_128_of(size, bytes);
    return (struct hash128){words.low, words.high};
}

void digest_of(size_t size, const void *bytes, uint8_t digest[DIGEST_SIZE])
{
    /* Ingot does not call sodium_init, so libsodium's portable implementation runs, which returns the same digest.
     * This leaves libsodium's global state to applications that use it themselves. With these sizes, the call cannot
     * fail. */
    (void)crypto_generichash_blake2b(digest, DIGEST_SIZE, bytes, size, NULL, 0);
}

bool digest_of_written(struct bytes_writer *writer, uint8_t digest[DIGEST_SIZE])
{
    const bool is_whole = !writer->failed;
    if (is_whole)
        digest_of(writer->size, writer->bytes, digest);
    bytes_writer_fini(writer);
    return is_whole;
}
