/*
 * bundle_file.c - encodes and decodes the header and the index of a bundle; see doc/bundle-format.md.
 *
 * Once the index is verified, every range of every record is known to lie within the file, so loads need not check
 * ranges again.
 */
#include "persist/bundle/bundle_file.h"

#include <ingot/backend.h>
#include <stdbool.h>
#include <string.h>

#include "persist/directory/format/entry.h"
#include "util/little_endian.h"

#define FORMAT_VERSION 1u
#define MUST_UNDERSTAND_FLAGS 0xffffu
#define CHECKED_SIZE 96u

static const uint8_t magic[8] = {0x89, 'I', 'N', 'G', 'B', 'D', 'L', '\n'};

static bool is_range(uint64_t offset, uint64_t size, uint64_t max_size, uint64_t end)
{
    return size >= 1 && size <= max_size && offset >= BUNDLE_HEADER_SIZE && offset <= end && size <= end - offset;
}

static bool are_records_sound(const struct bundle_file *file)
{
    uint64_t last_hash = 0;
    for (uint64_t i = 0; i < file->entry_count; ++i) {
        const struct bundle_record record = bundle_file_record(file, i);
        if (record.hash < last_hash ||
            !is_range(record.id_offset, record.id_size, KEY_FILE_MAX_ID_SIZE, file->index_offset) ||
            !is_range(record.blob_offset, record.blob_size, KEY_FILE_MAX_BLOB_SIZE, file->index_offset))
            return false;
        last_hash = record.hash;
    }
    return true;
}

ingot_status_t bundle_file_parse(struct bundle_file *file, uint64_t file_size, size_t header_size,
                                 const uint8_t *header)
{
    if (header_size < BUNDLE_HEADER_SIZE)
        return ingot_set_error_detail(INGOT_BLOB_TRUNCATED, "the bundle ends within its header");
    if (memcmp(header, magic, sizeof(magic)) != 0)
        return ingot_set_error_detail(INGOT_BLOB_CORRUPT, "the file does not begin with a bundle's magic number");
    const uint32_t version = le_get_u32(header + 8);
    if (version != FORMAT_VERSION)
        return ingot_set_error_detail(INGOT_BLOB_VERSION, "the bundle has format version %u", (unsigned)version);
    const struct checksum checksum = checksum_of(CHECKED_SIZE, header);
    if (le_get_u32(header + 12) != BUNDLE_HEADER_SIZE ||
        memcmp(header + CHECKED_SIZE, checksum.bytes, CHECKSUM_SIZE) != 0)
        return ingot_set_error_detail(INGOT_BLOB_CORRUPT, "the checksum of the bundle's header does not match");
    const uint32_t flags = le_get_u32(header + 64);
    if ((flags & MUST_UNDERSTAND_FLAGS) != 0)
        return ingot_set_error_detail(INGOT_BLOB_VERSION, "the bundle has unknown flags %#x", (unsigned)flags);
    const uint64_t recorded_size = le_get_u64(header + 24);
    if (recorded_size != file_size)
        return ingot_set_error_detail(file_size < recorded_size ? INGOT_BLOB_TRUNCATED : INGOT_BLOB_CORRUPT,
                                      "the bundle has %llu bytes instead of %llu", (unsigned long long)file_size,
                                      (unsigned long long)recorded_size);
    const uint64_t entry_count = le_get_u64(header + 16);
    const uint64_t index_offset = le_get_u64(header + 32);
    if (index_offset < BUNDLE_HEADER_SIZE || index_offset > file_size || index_offset % BUNDLE_ALIGNMENT != 0 ||
        (file_size - index_offset) % BUNDLE_RECORD_SIZE != 0 ||
        (file_size - index_offset) / BUNDLE_RECORD_SIZE != entry_count || entry_count >= SIZE_MAX / BUNDLE_RECORD_SIZE)
        return ingot_set_error_detail(INGOT_BLOB_CORRUPT, "the bundle's index cannot be where its header says");
    *file = (struct bundle_file){.entry_count = entry_count, .index_offset = index_offset};
    memcpy(file->index_checksum.bytes, header + 48, CHECKSUM_SIZE);
    return INGOT_SUCCESS;
}

ingot_status_t bundle_file_take_index(struct bundle_file *file, const uint8_t *index)
{
    file->index = index;
    if (!checksum_holds(&file->index_checksum, (size_t)file->entry_count * BUNDLE_RECORD_SIZE, index))
        return ingot_set_error_detail(INGOT_BLOB_CORRUPT, "the checksum of the bundle's index does not match");
    if (!are_records_sound(file))
        return ingot_set_error_detail(INGOT_BLOB_CORRUPT, "the bundle's index is out of order or range");
    return INGOT_SUCCESS;
}

struct bundle_record bundle_file_record(const struct bundle_file *file, uint64_t number)
{
    const uint8_t *at = file->index + number * BUNDLE_RECORD_SIZE;
    struct bundle_record record = {
        .hash = le_get_u64(at),
        .id_offset = le_get_u64(at + 8),
        .id_size = le_get_u64(at + 16),
        .blob_offset = le_get_u64(at + 24),
        .blob_size = le_get_u64(at + 32),
        .created_ns = le_get_u64(at + 40),
    };
    memcpy(record.blob_checksum.bytes, at + 48, CHECKSUM_SIZE);
    return record;
}

void bundle_file_encode_record(const struct bundle_record *record, uint8_t bytes[BUNDLE_RECORD_SIZE])
{
    le_put_u64(bytes, record->hash);
    le_put_u64(bytes + 8, record->id_offset);
    le_put_u64(bytes + 16, record->id_size);
    le_put_u64(bytes + 24, record->blob_offset);
    le_put_u64(bytes + 32, record->blob_size);
    le_put_u64(bytes + 40, record->created_ns);
    memcpy(bytes + 48, record->blob_checksum.bytes, CHECKSUM_SIZE);
}

uint64_t bundle_file_lower_bound(const struct bundle_file *file, uint64_t hash)
{
    uint64_t first = 0;
    uint64_t end = file->entry_count;
    while (first < end) {
        const uint64_t middle = first + (end - first) / 2;
        if (le_get_u64(file->index + middle * BUNDLE_RECORD_SIZE) < hash)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

void bundle_file_encode_header(uint8_t header[BUNDLE_HEADER_SIZE], uint64_t entry_count, uint64_t index_offset,
                               uint64_t created_ns, const struct checksum *index_checksum)
{
    memset(header, 0, BUNDLE_HEADER_SIZE);
    memcpy(header, magic, sizeof(magic));
    le_put_u32(header + 8, FORMAT_VERSION);
    le_put_u32(header + 12, BUNDLE_HEADER_SIZE);
    le_put_u64(header + 16, entry_count);
    le_put_u64(header + 24, index_offset + entry_count * BUNDLE_RECORD_SIZE);
    le_put_u64(header + 32, index_offset);
    le_put_u64(header + 40, created_ns);
    memcpy(header + 48, index_checksum->bytes, CHECKSUM_SIZE);
    const struct checksum checksum = checksum_of(CHECKED_SIZE, header);
    memcpy(header + CHECKED_SIZE, checksum.bytes, CHECKSUM_SIZE);
}
