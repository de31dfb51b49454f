/*
 * index.c - reads and changes index.bin, which lists a namespace's entries with their sizes and times; see index.h.
 *
 * The file is a hash table of pages, which grows and shrinks by one page at a time (linear hashing), so that a change
 * takes no longer in a large store than in a small one. A split writes only the new page, which is not part of the
 * index until the header counts it. The page that was split keeps its old bytes. A record in it that now belongs in the
 * new page counts as a free place.
 */
#include "persist/directory/format/index.h"

#include <errno.h>
#include <string.h>

#include "persist/base/files.h"
#include "util/little_endian.h"

/* The index grows if its pages have MOST_PER_PAGE records on average, and shrinks if they have fewer than
 * FEWEST_PER_PAGE. A page that is not split yet may have up to twice the average number of records, for which
 * INDEX_PAGE_RECORDS leaves room. */
#define MOST_PER_PAGE 40u
#define FEWEST_PER_PAGE 10u

int index_read_header(int fd, struct index_header *header)
{
    uint8_t bytes[INDEX_HEADER_SIZE];
    size_t got = 0;
    const int result = files_read(fd, 0, sizeof(bytes), bytes, &got);
    if (result < 0)
        return result;
    return got == sizeof(bytes) && index_header_decode(header, bytes) ? 1 : 0;
}

int index_write_header(int fd, struct index_header *header)
{
    uint8_t bytes[INDEX_HEADER_SIZE];
    index_header_encode(header, bytes);
    return files_write_at(fd, 0, sizeof(bytes), bytes);
}

/* Reads a page. Places beyond the end of the file are free. */
static int read_page(int fd, uint64_t page, uint8_t bytes[INDEX_PAGE_SIZE])
{
    size_t got = 0;
    const int result = files_read(fd, index_page_offset(page), INDEX_PAGE_SIZE, bytes, &got);
    if (result == 0)
        memset(bytes + got, 0, INDEX_PAGE_SIZE - got);
    return result;
}

int index_reset(int fd, struct index_header *header)
{
    static const uint8_t empty[INDEX_PAGE_SIZE];
    *header = (struct index_header){
        .page_count = 1, .drain_bytes = UINT64_MAX, .drain_entries = UINT64_MAX, .is_scanning = true};
    int result = files_truncate(fd, 0);
    if (result == 0) /* takes the disk space now, so that later writes do not fail for lack of it */
        result = files_write_at(fd, 0, sizeof(empty), empty);
    return result < 0 ? result : files_write_at(fd, index_page_offset(0), sizeof(empty), empty);
}

/* Decodes the record at a place in a page. Returns false if there is none that belongs in this page. */
static bool decode(const uint8_t *at, uint64_t page_count, uint64_t page, struct index_record *record)
{
    return index_record_decode(record, at) && index_page_of(record->bucket, page_count) == page;
}

/* Returns the offset of a free place in a page, or INDEX_PAGE_SIZE if there is none. Prefers an empty place to one
 * whose record is damaged or belongs in another page. */
static size_t find_free(const uint8_t *bytes, uint64_t page_count, uint64_t page)
{
    struct index_record record;
    for (size_t at = 0; at < INDEX_PAGE_SIZE; at += INDEX_RECORD_SIZE)
        if (index_record_is_empty(bytes + at))
            return at;
    for (size_t at = 0; at < INDEX_PAGE_SIZE; at += INDEX_RECORD_SIZE)
        if (!decode(bytes + at, page_count, page, &record))
            return at;
    return INDEX_PAGE_SIZE;
}

int index_find(int fd, uint64_t page_count, uint64_t bucket, uint32_t number, struct index_place *place)
{
    _Alignas(64) uint8_t bytes[INDEX_PAGE_SIZE];
    const uint64_t page = index_page_of(bucket, page_count);
    const int result = read_page(fd, page, bytes);
    place->offset = 0;
    if (result < 0)
        return result;
    for (size_t at = 0; at < sizeof(bytes); at += INDEX_RECORD_SIZE) {
        if (le_get_u64(bytes + at) != bucket || !decode(bytes + at, page_count, page, &place->record) ||
            place->record.number != number)
            continue;
        place->offset = index_page_offset(page) + at;
        return 1;
    }
    const size_t at = find_free(bytes, page_count, page);
    if (at < sizeof(bytes))
        place->offset = index_page_offset(page) + at;
    return 0;
}

int index_is_at(int fd, uint64_t offset, const struct index_record *record)
{
    uint8_t bytes[INDEX_RECORD_SIZE];
    struct index_record found;
    size_t got = 0;
    const int result = files_read(fd, offset, sizeof(bytes), bytes, &got);
    if (result < 0)
        return result;
    return got == sizeof(bytes) && index_record_decode(&found, bytes) && found.bucket == record->bucket &&
           found.number == record->number && found.created_ns == record->created_ns;
}

int index_put(int fd, uint64_t offset, const struct index_record *record)
{
    uint8_t bytes[INDEX_RECORD_SIZE];
    index_record_encode(record, bytes);
    return files_write_at(fd, offset, sizeof(bytes), bytes);
}

int index_free(int fd, uint64_t offset)
{
    static const uint8_t nothing[INDEX_RECORD_SIZE];
    return files_write_at(fd, offset, sizeof(nothing), nothing);
}

int index_note_use(int fd, uint64_t offset, uint32_t last_use_s)
{
    uint8_t bytes[INDEX_LAST_USE_SIZE];
    le_put_u32(bytes, last_use_s);
    return files_write_at(fd, offset + INDEX_LAST_USE_OFFSET, sizeof(bytes), bytes);
}

int index_visit(int fd, uint64_t page_count, uint64_t page,
                void (*visit)(void *user, const struct index_record *record), void *user)
{
    _Alignas(64) uint8_t bytes[INDEX_PAGE_SIZE];
    struct index_record record;
    const int result = read_page(fd, page, bytes);
    for (size_t at = 0; result == 0 && at < sizeof(bytes); at += INDEX_RECORD_SIZE)
        if (decode(bytes + at, page_count, page, &record))
            visit(user, &record);
    return result;
}

/* Copies those records of the page `from` that belong in `page` once there are new_count pages. Appends them to the
 * used_bytes bytes of `into`. Returns false if `into` has no room for all of them. */
static bool gather(const uint8_t *from, uint64_t from_page, uint64_t old_count, uint64_t page, uint64_t new_count,
                   uint8_t *into, size_t *used_bytes)
{
    struct index_record record;
    for (size_t at = 0; at < INDEX_PAGE_SIZE; at += INDEX_RECORD_SIZE) {
        if (!decode(from + at, old_count, from_page, &record) || index_page_of(record.bucket, new_count) != page)
            continue;
        if (*used_bytes == INDEX_PAGE_SIZE)
            return false;
        memcpy(into + *used_bytes, from + at, INDEX_RECORD_SIZE);
        *used_bytes += INDEX_RECORD_SIZE;
    }
    return true;
}

/* Returns the page that is split when the page `last` is added, and that takes the records back when `last` is removed.
 * page_count_without is the number of pages without `last`. */
static uint64_t partner_of(uint64_t last, uint64_t page_count_without)
{
    return index_page_of(last, page_count_without);
}

int index_grow(int fd, struct index_header *header)
{
    uint8_t from[INDEX_PAGE_SIZE];
    uint8_t made[INDEX_PAGE_SIZE] = {0};
    size_t used_bytes = 0;
    const uint64_t count = header->page_count;
    if (header->entry_count < count * MOST_PER_PAGE)
        return 0;
    const uint64_t partner = partner_of(count, count);
    int result = read_page(fd, partner, from);
    if (result < 0)
        return result;
    (void)gather(from, partner, count, count, count + 1, made, &used_bytes);
    result = files_write_at(fd, index_page_offset(count), sizeof(made), made);
    if (result == 0)
        ++header->page_count;
    return result;
}

int index_shrink(int fd, struct index_header *header)
{
    uint8_t last[INDEX_PAGE_SIZE];
    uint8_t partner[INDEX_PAGE_SIZE];
    uint8_t joined[INDEX_PAGE_SIZE] = {0};
    size_t used_bytes = 0;
    const uint64_t count = header->page_count;
    if (count == 1 || header->entry_count >= count * FEWEST_PER_PAGE)
        return 0;
    const uint64_t to = partner_of(count - 1, count - 1);
    int result = read_page(fd, count - 1, last);
    if (result == 0)
        result = read_page(fd, to, partner);
    if (result < 0)
        return result;
    if (!gather(partner, to, count, to, count - 1, joined, &used_bytes) ||
        !gather(last, count - 1, count, to, count - 1, joined, &used_bytes))
        return 0; /* the joined page would be too full */
    result = files_write_at(fd, index_page_offset(to), sizeof(joined), joined);
    if (result == 0)
        --header->page_count;
    return result;
}
