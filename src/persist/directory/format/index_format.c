/*
 * index_format.c - encodes and decodes the header and the records of index.bin; see doc/store-format.md.
 */
#include "persist/directory/format/index_format.h"

#include <string.h>

#include "persist/base/checksum.h"
#include "util/little_endian.h"

#define FORMAT_VERSION 2u
#define CHECKED_SIZE 120u
#define RECORD_CHECKED_SIZE 26u
#define FLAG_SCANNING 1u
#define PAGE_COUNT_MAX (UINT64_C(1) << 40)

static const uint8_t magic[8] = {0x89, 'I', 'N', 'G', 'I', 'D', 'X', '\n'};

static uint16_t check_of(const uint8_t *record)
{
    return (uint16_t)checksum_bucket_of(RECORD_CHECKED_SIZE, record);
}

void index_record_encode(const struct index_record *record, uint8_t bytes[INDEX_RECORD_SIZE])
{
    le_put_u64(bytes, record->bucket);
    le_put_u64(bytes + 8, record->created_ns);
    le_put_u64(bytes + 16, record->bytes);
    le_put_u16(bytes + 24, (uint16_t)record->number);
    le_put_u16(bytes + RECORD_CHECKED_SIZE, check_of(bytes));
    le_put_u32(bytes + INDEX_LAST_USE_OFFSET, record->last_use_s);
}

bool index_record_is_empty(const uint8_t bytes[INDEX_RECORD_SIZE])
{
    return le_get_u64(bytes + 8) == 0;
}

bool index_record_decode(struct index_record *record, const uint8_t bytes[INDEX_RECORD_SIZE])
{
    record->bucket = le_get_u64(bytes);
    record->created_ns = le_get_u64(bytes + 8);
    record->bytes = le_get_u64(bytes + 16);
    record->number = le_get_u16(bytes + 24);
    record->last_use_s = le_get_u32(bytes + INDEX_LAST_USE_OFFSET);
    return record->created_ns != 0 && le_get_u16(bytes + RECORD_CHECKED_SIZE) == check_of(bytes);
}

void index_header_encode(struct index_header *header, uint8_t bytes[INDEX_HEADER_SIZE])
{
    memset(bytes, 0, INDEX_HEADER_SIZE);
    memcpy(bytes, magic, sizeof(magic));
    le_put_u32(bytes + 8, FORMAT_VERSION);
    le_put_u32(bytes + 12, INDEX_PAGE_SIZE);
    le_put_u64(bytes + 16, header->page_count);
    le_put_u64(bytes + 24, header->total_bytes);
    le_put_u64(bytes + 32, header->entry_count);
    le_put_u64(bytes + 40, header->cursor);
    le_put_u64(bytes + 48, header->drain_bytes);
    le_put_u64(bytes + 56, header->drain_entries);
    le_put_u64(bytes + 64, header->scan_position);
    le_put_u32(bytes + 72, header->is_scanning ? FLAG_SCANNING : 0);
    le_put_u32(bytes + 76, (uint32_t)header->change);
    if (header->change != INDEX_CHANGE_NONE) {
        index_record_encode(&header->changed, bytes + 80);
        le_put_u64(bytes + 112, header->changed_offset);
    }
    const struct checksum checksum = checksum_of(CHECKED_SIZE, bytes);
    memcpy(bytes + CHECKED_SIZE, checksum.bytes, CHECKSUM_SIZE);
    header->checksum = le_get_u64(checksum.bytes);
}

bool index_header_decode(struct index_header *header, const uint8_t bytes[INDEX_HEADER_SIZE])
{
    struct checksum checksum;
    memcpy(checksum.bytes, bytes + CHECKED_SIZE, CHECKSUM_SIZE);
    if (memcmp(bytes, magic, sizeof(magic)) != 0 || le_get_u32(bytes + 8) != FORMAT_VERSION ||
        le_get_u32(bytes + 12) != INDEX_PAGE_SIZE || !checksum_holds(&checksum, CHECKED_SIZE, bytes))
        return false;
    const uint32_t change = le_get_u32(bytes + 76);
    *header = (struct index_header){
        .page_count = le_get_u64(bytes + 16),
        .total_bytes = le_get_u64(bytes + 24),
        .entry_count = le_get_u64(bytes + 32),
        .cursor = le_get_u64(bytes + 40),
        .drain_bytes = le_get_u64(bytes + 48),
        .drain_entries = le_get_u64(bytes + 56),
        .scan_position = le_get_u64(bytes + 64),
        .is_scanning = (le_get_u32(bytes + 72) & FLAG_SCANNING) != 0,
        .change = (enum index_change)change,
        .changed_offset = le_get_u64(bytes + 112),
        .checksum = le_get_u64(checksum.bytes),
    };
    if (header->page_count == 0 || header->page_count > PAGE_COUNT_MAX || change > INDEX_CHANGE_REMOVE)
        return false;
    return change == INDEX_CHANGE_NONE || index_record_decode(&header->changed, bytes + 80);
}

/* The lowest bits of a bucket are the number of its page: as many bits as the largest page number has, or one bit fewer
 * if these bits give a number that no page has yet. */
uint64_t index_page_of(uint64_t bucket, uint64_t page_count)
{
    uint64_t mask = page_count - 1;
    for (unsigned shift = 1; shift < 64; shift *= 2)
        mask |= mask >> shift;
    const uint64_t page = bucket & mask;
    return page < page_count ? page : page & (mask >> 1);
}

uint64_t index_page_offset(uint64_t page)
{
    return (page + 1) * INDEX_PAGE_SIZE;
}
