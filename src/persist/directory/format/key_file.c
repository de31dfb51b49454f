/*
 * key_file.c - the header of key.bin, as doc/store-format.md has it.
 *
 * Nothing in a decoded header is used before the header's checksum has held, and no size of it before it was
 * compared with the file's.
 */
#include "persist/directory/format/key_file.h"

#include <ingot/backend.h>
#include <stdbool.h>
#include <string.h>

#include "util/little_endian.h"

#define FORMAT_VERSION 1u
#define MUST_UNDERSTAND_FLAGS 0xffffu
#define CHECKED_SIZE 96u

static const uint8_t magic[8] = {0x89, 'I', 'N', 'G', 'K', 'E', 'Y', '\n'};

void key_file_encode_last_use(uint64_t last_use_ns, uint8_t stamp[KEY_FILE_LAST_USE_SIZE])
{
    le_put_u64(stamp, last_use_ns);
    le_put_u64(stamp + 8, ~last_use_ns);
}

struct key_file key_file_of(size_t id_size, const uint8_t *id, size_t blob_size, const uint8_t *blob, uint64_t now_ns)
{
    return (struct key_file){
        .id_size_bytes = id_size,
        .blob_size_bytes = blob_size,
        .id_checksum = checksum_of(id_size, id),
        .blob_checksum = checksum_of(blob_size, blob),
        .created_ns = now_ns,
        .last_use_ns = now_ns,
    };
}

void key_file_encode(const struct key_file *key, uint8_t header[KEY_FILE_HEADER_SIZE])
{
    memset(header, 0, KEY_FILE_HEADER_SIZE);
    memcpy(header, magic, sizeof(magic));
    le_put_u32(header + 8, FORMAT_VERSION);
    le_put_u32(header + 12, KEY_FILE_HEADER_SIZE);
    le_put_u64(header + 16, key->id_size_bytes);
    le_put_u64(header + 24, key->blob_size_bytes);
    memcpy(header + 32, key->id_checksum.bytes, CHECKSUM_SIZE);
    memcpy(header + 48, key->blob_checksum.bytes, CHECKSUM_SIZE);
    le_put_u64(header + 64, key->created_ns);
    le_put_u32(header + 72, key->flags);
    const struct checksum checksum = checksum_of(CHECKED_SIZE, header);
    memcpy(header + CHECKED_SIZE, checksum.bytes, CHECKSUM_SIZE);
    key_file_encode_last_use(key->last_use_ns, header + KEY_FILE_LAST_USE_OFFSET);
}

static ingot_status_t check_frame(size_t header_size, const uint8_t *header)
{
    if (header_size < KEY_FILE_HEADER_SIZE)
        return ingot_set_error_detail(INGOT_BLOB_TRUNCATED, "key.bin ends within its header");
    if (memcmp(header, magic, sizeof(magic)) != 0)
        return ingot_set_error_detail(INGOT_BLOB_CORRUPT, "key.bin does not begin as one");
    const uint32_t version = le_get_u32(header + 8);
    if (version != FORMAT_VERSION)
        return ingot_set_error_detail(INGOT_BLOB_VERSION, "key.bin has format version %u", (unsigned)version);
    const struct checksum checksum = checksum_of(CHECKED_SIZE, header);
    if (le_get_u32(header + 12) != KEY_FILE_HEADER_SIZE ||
        memcmp(header + CHECKED_SIZE, checksum.bytes, CHECKSUM_SIZE) != 0)
        return ingot_set_error_detail(INGOT_BLOB_CORRUPT, "the checksum of key.bin's header does not hold");
    const uint32_t flags = le_get_u32(header + 72);
    if ((flags & MUST_UNDERSTAND_FLAGS) != 0)
        return ingot_set_error_detail(INGOT_BLOB_VERSION, "key.bin has unknown flags %#x", (unsigned)flags);
    return INGOT_SUCCESS;
}

ingot_status_t key_file_decode(struct key_file *key, uint64_t file_size, size_t header_size, const uint8_t *header)
{
    const ingot_status_t status = check_frame(header_size, header);
    if (status != INGOT_SUCCESS)
        return status;

    const uint64_t id_size = le_get_u64(header + 16);
    const uint64_t blob_size = le_get_u64(header + 24);
    if (id_size == 0 || id_size > KEY_FILE_MAX_ID_SIZE || blob_size == 0 || blob_size > KEY_FILE_MAX_BLOB_SIZE)
        return ingot_set_error_detail(INGOT_BLOB_CORRUPT, "key.bin has impossible sizes");
    if (file_size < KEY_FILE_HEADER_SIZE + id_size)
        return ingot_set_error_detail(INGOT_BLOB_TRUNCATED, "key.bin ends within its id");
    if (file_size > KEY_FILE_HEADER_SIZE + id_size)
        return ingot_set_error_detail(INGOT_BLOB_CORRUPT, "key.bin goes on behind its id");

    key->id_size_bytes = id_size;
    key->blob_size_bytes = blob_size;
    memcpy(key->id_checksum.bytes, header + 32, CHECKSUM_SIZE);
    memcpy(key->blob_checksum.bytes, header + 48, CHECKSUM_SIZE);
    key->created_ns = le_get_u64(header + 64);
    key->flags = le_get_u32(header + 72);
    const uint64_t last_use_ns = le_get_u64(header + KEY_FILE_LAST_USE_OFFSET);
    const bool is_torn = le_get_u64(header + KEY_FILE_LAST_USE_OFFSET + 8) != ~last_use_ns;
    key->last_use_ns = is_torn ? key->created_ns : last_use_ns;
    return INGOT_SUCCESS;
}
