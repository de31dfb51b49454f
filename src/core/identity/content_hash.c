/*
 * content_hash.c - hashes a file of a compiler, or finds its hash in the memo; see content_hash.h.
 */
#include "core/identity/content_hash.h"

#include <stdio.h>

#include "core/base/bytes.h"
#include "core/base/digest.h"
#include "util/little_endian.h"

enum {
    HASH_SIZE = 16,
    SMALL_FILE_BYTES = 128 << 10 /* reading less than this takes no longer than loading what a store remembers of it */
};

/* Computes the key under which the memo remembers a file's hash. It differs from the keys of resolutions, whose digests
 * begin with other bytes. Returns false if memory runs out. */
static bool make_hash_key(uint8_t key[DIGEST_SIZE], const ingot_allocator_t *allocator, const char *path)
{
    static const char kind[] = "hash of the compiler's file ";
    struct bytes_writer text;
    bytes_writer_init(&text, allocator);
    bytes_put_text(&text, kind);
    bytes_put_text(&text, path);
    return digest_of_written(&text, key);
}

static ingot_status_t read_hash(struct ingot_header_memo *memo, const ingot_allocator_t *allocator, const char *path,
                                const uint8_t key[DIGEST_SIZE], struct bytes_writer *hash)
{
    struct witness witness;
    struct hash128 read = {0, 0};
    witness_init(&witness, allocator);
    if (memo != NULL)
        header_memo_watch(memo, &witness);
    const ingot_status_t status = witness_hash_file(&witness, path, &read);
    bytes_put_u64(hash, read.low);
    bytes_put_u64(hash, read.high);
    if (status == INGOT_SUCCESS && memo != NULL)
        header_memo_learn(memo, key, &witness, hash);
    witness_fini(&witness);
    return status;
}

ingot_status_t content_hash_of(struct ingot_header_memo *memo, const ingot_allocator_t *allocator, const char *path,
                               char text[CONTENT_HASH_TEXT])
{
    uint8_t key[DIGEST_SIZE];
    struct bytes_writer hash;
    ingot_status_t status = INGOT_SUCCESS;
    struct os_file_state state;
    text[0] = '\0';
    if (memo != NULL && os_get_file_state(path, &state) == INGOT_SUCCESS && state.size < SMALL_FILE_BYTES)
        memo = NULL;
    if (!make_hash_key(key, allocator, path))
        return INGOT_OUT_OF_MEMORY;
    bytes_writer_init(&hash, allocator);
    if (memo == NULL || !header_memo_lookup(memo, key, &hash) || hash.size != HASH_SIZE) {
        hash.size = 0;
        status = read_hash(memo, allocator, path, key, &hash);
    }
    if (hash.failed)
        status = INGOT_OUT_OF_MEMORY;
    if (status == INGOT_SUCCESS)
        (void)snprintf(text, CONTENT_HASH_TEXT, "%016llx%016llx", (unsigned long long)le_get_u64(hash.bytes + 8),
                       (unsigned long long)le_get_u64(hash.bytes));
    bytes_writer_fini(&hash);
    return status;
}
