/*
 * key_file.c - encodes and decodes the header of key.bin; see doc/store-format.md.
 *
 * Decoding first checks the magic number, the version and the header's checksum. It then compares the id's size with
 * the size of the file. Only after that does it return any field.
 */
#include "persist/directory/format/key_file.h"

#include <ingot/backend.h>
#include <stdbool.h>
#include <string.h>

#include "util/little_endian.h"

#define FORMAT_VERSION 1u
#define MUST_UNDERSTAND_FLAGS 0xffffu
#define MAGIC_SIZE (sizeof(KEY_BIN_MAGIC) - 1)

struct key_file key_file_of(size_t id_size, const uint8_t *id, size_t blob_size, const uint8_t *blob, uint64_t now_ns)
{
    return (struct key_file){
        .id_size_bytes = id_size,
        .blob_size_bytes = blob_size,
        .id_checksum = checksum_of(id_size, id),
        .blob_checksum = checksum_of(blob_size, blob),
        .created_ns = now_ns,
    };
}

void key_file_encode(const struct key_file *key, uint8_t header[KEY_FILE_HEADER_SIZE])
{
    memset(header, 0, KEY_FILE_HEADER_SIZE);
    memcpy(header + KEY_BIN_AT_MAGIC, KEY_BIN_MAGIC, MAGIC_SIZE);
    le_put_u32(header + KEY_BIN_AT_VERSION, FORMAT_VERSION);
    le_put_u32(header + KEY_BIN_AT_HEADER_SIZE, KEY_FILE_HEADER_SIZE);
    le_put_u64(header + KEY_BIN_AT_ID_SIZE, key->id_size_bytes);
    le_put_u64(header + KEY_BIN_AT_BLOB_SIZE, key->blob_size_bytes);
    memcpy(header + KEY_BIN_AT_ID_CHECKSUM, key->id_checksum.bytes, CHECKSUM_SIZE);
    memcpy(header + KEY_BIN_AT_BLOB_CHECKSUM, key->blob_checksum.bytes, CHECKSUM_SIZE);
    le_put_u64(header + KEY_BIN_AT_CREATED, key->created_ns);
    le_put_u32(header + KEY_BIN_AT_FLAGS, key->flags);
    const struct checksum checksum = checksum_of(KEY_BIN_AT_CHECKSUM, header);
    memcpy(header + KEY_BIN_AT_CHECKSUM, checksum.bytes, CHECKSUM_SIZE);
}

ingot_status_t key_file_decode(struct key_file *key, uint64_t file_size, size_t header_size, const uint8_t *header)
{
    if (header_size < KEY_FILE_HEADER_SIZE)
        return ingot_set_error_detail(INGOT_BLOB_TRUNCATED, "key.bin ends within its header");
    if (memcmp(header + KEY_BIN_AT_MAGIC, KEY_BIN_MAGIC, MAGIC_SIZE) != 0)
        return ingot_set_error_detail(INGOT_BLOB_CORRUPT, "key.bin does not begin with its magic number");
    const uint32_t version = le_get_u32(header + KEY_BIN_AT_VERSION);
    if (version != FORMAT_VERSION)
        return ingot_set_error_detail(INGOT_BLOB_VERSION, "key.bin has format version %u", (unsigned)version);
    const struct checksum checksum = checksum_of(KEY_BIN_AT_CHECKSUM, header);
    if (le_get_u32(header + KEY_BIN_AT_HEADER_SIZE) != KEY_FILE_HEADER_SIZE ||
        memcmp(header + KEY_BIN_AT_CHECKSUM, checksum.bytes, CHECKSUM_SIZE) != 0)
        return ingot_set_error_detail(INGOT_BLOB_CORRUPT, "the checksum of key.bin's header does not match");
    const uint32_t flags = le_get_u32(header + KEY_BIN_AT_FLAGS);
    if ((flags & MUST_UNDERSTAND_FLAGS) != 0)
        return ingot_set_error_detail(INGOT_BLOB_VERSION, "key.bin has unknown flags %#x", (unsigned)flags);
    const uint64_t id_size = le_get_u64(header + KEY_BIN_AT_ID_SIZE);
    const uint64_t blob_size = le_get_u64(header + KEY_BIN_AT_BLOB_SIZE);
    if (id_size == 0 || id_size > KEY_FILE_MAX_ID_SIZE || blob_size == 0 || blob_size > KEY_FILE_MAX_BLOB_SIZE)
        return ingot_set_error_detail(INGOT_BLOB_CORRUPT, "key.bin has impossible sizes");
    if (file_size < KEY_FILE_HEADER_SIZE + id_size)
        return ingot_set_error_detail(INGOT_BLOB_TRUNCATED, "key.bin ends within its id");
    if (file_size > KEY_FILE_HEADER_SIZE + id_size)
        return ingot_set_error_detail(INGOT_BLOB_CORRUPT, "key.bin has bytes after its id");

    key->id_size_bytes = id_size;
    key->blob_size_bytes = blob_size;
    memcpy(key->id_checksum.bytes, header + KEY_BIN_AT_ID_CHECKSUM, CHECKSUM_SIZE);
    memcpy(key->blob_checksum.bytes, header + KEY_BIN_AT_BLOB_CHECKSUM, CHECKSUM_SIZE);
    key->created_ns = le_get_u64(header + KEY_BIN_AT_CREATED);
    key->flags = flags;
    return INGOT_SUCCESS;
}

ingot_status_t key_file_decode_single(struct key_file *key, uint64_t file_size, size_t header_size,
                                      const uint8_t *header)
{
    /* If the header is too short, the blob's size does not matter, because decoding the header fails. */
    const uint64_t blob_size = header_size >= KEY_FILE_HEADER_SIZE ? le_get_u64(header + KEY_BIN_AT_BLOB_SIZE) : 0;
    return key_file_decode(key, file_size > blob_size ? file_size - blob_size : 0, header_size, header);
}
