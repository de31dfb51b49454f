/*
 * envelope.c - encodes and decodes an object on a server, and derives its key; see envelope.h and doc/remote-format.md.
 */
#include "remote/object/envelope.h"

#include <ingot/backend.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/hex.h"
#include "util/little_endian.h"
#include "util/xxh3/xxh3.h"
#include "util/zstd_frame.h"

#define MAGIC "\x89INGOBJ\n"
#define MAGIC_SIZE (sizeof(MAGIC) - 1)
#define MUST_UNDERSTAND_FLAGS UINT32_C(0xffff)
#define FLAG_ZSTD UINT32_C(1)
#define CHECKSUM_SIZE 16u
#define DIGEST_SIZE 32u

/* Offsets of the header's fields in bytes. */
enum offset {
    AT_MAGIC = 0,
    AT_VERSION = 8,
    AT_HEADER_SIZE = 12,
    AT_ID_SIZE = 16,
    AT_BLOB_SIZE = 24,
    AT_STORED_SIZE = 32,
    AT_FLAGS = 40,
    AT_BLOB_CHECKSUM = 48,
    AT_CREATED = 64,
    AT_CHECKSUM = 80, /* the checksum of all bytes before it */
};

void object_key_of(const char *name_space, size_t id_size, const uint8_t *id, char key[OBJECT_KEY_CAPACITY])
{
    static const uint8_t personal[] = {'i', 'n', 'g', 'o', 't', '-', 'r', 'e', 'm', 'o', 't', 'e', '-', 'k', 'e', 'y'};
    crypto_generichash_blake2b_state state;
    uint8_t head[4];
    uint8_t digest[DIGEST_SIZE];

    /* None of these can fail, and none needs sodium_init: see doc/design.md. */
    (void)crypto_generichash_blake2b_init_salt_personal(&state, NULL, 0, DIGEST_SIZE, NULL, personal);
    le_put_u32(head, ENVELOPE_VERSION);
    (void)crypto_generichash_blake2b_update(&state, head, sizeof(head));
    (void)crypto_generichash_blake2b_update(&state, (const uint8_t *)name_space, strlen(name_space) + 1);
    (void)crypto_generichash_blake2b_update(&state, id, id_size);
    (void)crypto_generichash_blake2b_final(&state, digest, sizeof(digest));
    hex_put(key, sizeof(digest), digest);
    key[OBJECT_KEY_HEX_SIZE] = '\0';
}

static void put_checksum(uint8_t at[CHECKSUM_SIZE], size_t size, const uint8_t *bytes)
{
    const struct xxh3_words words = xxh3_128_of(size, bytes);
    le_put_u64(at, words.low);
    le_put_u64(at + 8, words.high);
}

static bool checksum_holds(const uint8_t at[CHECKSUM_SIZE], size_t size, const uint8_t *bytes)
{
    uint8_t found[CHECKSUM_SIZE];
    put_checksum(found, size, bytes);
    return memcmp(found, at, CHECKSUM_SIZE) == 0;
}

size_t envelope_max_size(size_t id_size, size_t max_blob_size)
{
    const size_t head = ENVELOPE_HEADER_SIZE + id_size;
    return max_blob_size > SIZE_MAX - head ? SIZE_MAX : head + max_blob_size;
}

ingot_status_t envelope_encode(size_t id_size, const uint8_t *id, size_t blob_size, const uint8_t *blob,
                               uint64_t created_ns, int level, size_t *size, uint8_t **object)
{
    const size_t head = ENVELOPE_HEADER_SIZE + id_size;
    uint8_t *made = malloc(envelope_max_size(id_size, blob_size));
    if (made == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for an object of %zu bytes", blob_size);
    size_t stored_size = level == 0 ? 0 : zstd_frame_pack(blob_size, blob, level, made + head);
    if (stored_size == 0) {
        memcpy(made + head, blob, blob_size);
        stored_size = blob_size;
    }
    memset(made, 0, ENVELOPE_HEADER_SIZE);
    memcpy(made + AT_MAGIC, MAGIC, MAGIC_SIZE);
    le_put_u32(made + AT_VERSION, ENVELOPE_VERSION);
    le_put_u32(made + AT_HEADER_SIZE, ENVELOPE_HEADER_SIZE);
    le_put_u64(made + AT_ID_SIZE, id_size);
    le_put_u64(made + AT_BLOB_SIZE, blob_size);
    le_put_u64(made + AT_STORED_SIZE, stored_size);
    le_put_u32(made + AT_FLAGS, stored_size < blob_size ? FLAG_ZSTD : 0);
    put_checksum(made + AT_BLOB_CHECKSUM, blob_size, blob);
    le_put_u64(made + AT_CREATED, created_ns);
    put_checksum(made + AT_CHECKSUM, AT_CHECKSUM, made);
    memcpy(made + ENVELOPE_HEADER_SIZE, id, id_size);
    *size = head + stored_size;
    *object = made;
    return INGOT_SUCCESS;
}

/* Checks the header, and returns the size of the id. */
static ingot_status_t check_envelope(size_t size, const uint8_t *object, size_t max_blob_size, size_t *id_size)
{
    if (size < ENVELOPE_HEADER_SIZE)
        return ingot_set_error_detail(INGOT_BLOB_TRUNCATED, "the object has %zu bytes and ends within its header",
                                      size);
    if (memcmp(object + AT_MAGIC, MAGIC, MAGIC_SIZE) != 0)
        return ingot_set_error_detail(INGOT_BLOB_CORRUPT, "the object does not begin with its magic number");
    const uint32_t version = le_get_u32(object + AT_VERSION);
    if (version != ENVELOPE_VERSION)
        return ingot_set_error_detail(INGOT_BLOB_VERSION, "the object has format version %u", (unsigned)version);
    if (le_get_u32(object + AT_HEADER_SIZE) != ENVELOPE_HEADER_SIZE ||
        !checksum_holds(object + AT_CHECKSUM, AT_CHECKSUM, object))
        return ingot_set_error_detail(INGOT_BLOB_CORRUPT, "the checksum of the object's header does not match");
    const uint32_t flags = le_get_u32(object + AT_FLAGS);
    if ((flags & MUST_UNDERSTAND_FLAGS & ~FLAG_ZSTD) != 0)
        return ingot_set_error_detail(INGOT_BLOB_VERSION, "the object has unknown flags %#x", (unsigned)flags);
    const bool is_packed = (flags & FLAG_ZSTD) != 0;
    const uint64_t id_bytes = le_get_u64(object + AT_ID_SIZE);
    const uint64_t blob = le_get_u64(object + AT_BLOB_SIZE);
    const uint64_t stored = le_get_u64(object + AT_STORED_SIZE);
    if (id_bytes == 0 || id_bytes > ENVELOPE_MAX_ID_SIZE || blob == 0 || blob > ENVELOPE_MAX_BLOB_SIZE || stored == 0 ||
        (is_packed ? stored >= blob : stored != blob))
        return ingot_set_error_detail(INGOT_BLOB_CORRUPT, "the object has impossible sizes");
    const uint64_t whole = ENVELOPE_HEADER_SIZE + id_bytes + stored;
    if (size < whole)
        return ingot_set_error_detail(INGOT_BLOB_TRUNCATED, "the object has %zu bytes instead of %llu", size,
                                      (unsigned long long)whole);
    if (size > whole)
        return ingot_set_error_detail(INGOT_BLOB_CORRUPT, "the object has bytes after its blob");
    if (blob > max_blob_size)
        return ingot_set_error_detail(INGOT_NO_SPACE, "the blob has %llu bytes, and the limit is %zu",
                                      (unsigned long long)blob, max_blob_size);
    *id_size = (size_t)id_bytes;
    return INGOT_SUCCESS;
}

ingot_status_t envelope_decode(size_t size, const uint8_t *object, size_t id_size, const uint8_t *id,
                               size_t max_blob_size, struct envelope_content *content)
{
    struct envelope_content found = {.size = 0};
    /* `object` may be NULL if it is empty */
    ingot_status_t status = check_envelope(size, object, max_blob_size, &found.id_size);
    if (status != INGOT_SUCCESS)
        return status;
    found.id = object + ENVELOPE_HEADER_SIZE;
    if (id != NULL && (found.id_size != id_size || memcmp(found.id, id, id_size) != 0))
        return ingot_set_error_detail(INGOT_BLOB_MISMATCH, "the object holds another program's blob");

    const uint8_t *stored = found.id + found.id_size;
    found.size = (size_t)le_get_u64(object + AT_BLOB_SIZE);
    found.bytes = stored;
    if ((le_get_u32(object + AT_FLAGS) & FLAG_ZSTD) != 0) {
        found.bytes = found.unpacked = malloc(found.size);
        if (found.unpacked == NULL)
            return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a blob of %zu bytes", found.size);
        if (!zstd_frame_unpack((size_t)le_get_u64(object + AT_STORED_SIZE), stored, found.size, found.unpacked))
            status = ingot_set_error_detail(INGOT_BLOB_CORRUPT, "the object's blob cannot be decompressed to its size");
    }
    if (status == INGOT_SUCCESS && !checksum_holds(object + AT_BLOB_CHECKSUM, found.size, found.bytes))
        status = ingot_set_error_detail(INGOT_BLOB_CORRUPT, "the blob does not match the object's checksum");
    if (status == INGOT_SUCCESS)
        *content = found;
    else
        free(found.unpacked);
    return status;
}
