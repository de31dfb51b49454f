/*
 * record.c - reads and writes the header and the records of a recipe file; see record.h.
 */
#include "persist/recipe/format/record.h"

#include <ingot/backend.h>
#include <sodium.h>
#include <string.h>

#include "persist/base/files.h"
#include "persist/base/memory.h"
#include "util/little_endian.h"
#include "util/zstd_frame.h"

#define MAGIC "\x89INGRCP\n"
#define MAGIC_SIZE (sizeof(MAGIC) - 1)
#define VERSION 1u
#define COMPRESSION_LEVEL 6 /* a tenth smaller than with level 3, and still fast compared with a compilation */
#define LEAST_PACKED 256u   /* shorter contents are not compressed */

static const uint8_t record_magic[] = {'R', 'C', 'R', 'D'};

/* Bytes from the beginning of the file. */
enum header_offset { HEADER_VERSION = 8, HEADER_SIZE = 12, HEADER_CHECKSUM = 16 };
/* Bytes from the beginning of a record. */
enum record_offset {
    AT_KIND = 4,
    AT_STORED_SIZE = 8,
    AT_SIZE = 16,
    AT_ENCODING = 24,
    AT_RESERVED = 28,
    AT_KEY = 32,
    AT_CONTENT_CHECKSUM = 64,
    AT_CHECKSUM = 80,
};
enum encoding { ENCODING_PLAIN = 0, ENCODING_ZSTD = 1 };

void recipe_digest(size_t size, const void *bytes, uint8_t digest[INGOT_RECIPE_KEY_SIZE])
{
    /* if sodium_init was not called, libsodium uses its portable implementation, which gives the same result */
    (void)crypto_generichash_blake2b(digest, INGOT_RECIPE_KEY_SIZE, bytes, size, NULL, 0);
}

/* ---- the file's header ---- */

void recipe_put_header(uint8_t header[RECIPE_HEADER_SIZE])
{
    memcpy(header, MAGIC, MAGIC_SIZE);
    le_put_u32(header + HEADER_VERSION, VERSION);
    le_put_u32(header + HEADER_SIZE, RECIPE_HEADER_SIZE);
    const struct checksum checksum = checksum_of(HEADER_CHECKSUM, header);
    memcpy(header + HEADER_CHECKSUM, checksum.bytes, CHECKSUM_SIZE);
}

static ingot_status_t check_recipe_header(const uint8_t *header, const char *name)
{
    struct checksum checksum;
    if (memcmp(header, MAGIC, MAGIC_SIZE) != 0)
        return ingot_set_error_detail(INGOT_BLOB_CORRUPT, "%s is not a recipe", name);
    const uint32_t version = le_get_u32(header + HEADER_VERSION);
    if (version != VERSION)
        return ingot_set_error_detail(INGOT_BLOB_VERSION,
                                      "%s is a recipe of version %u, but this library reads version %u", name,
                                      (unsigned)version, VERSION);
    memcpy(checksum.bytes, header + HEADER_CHECKSUM, CHECKSUM_SIZE);
    if (le_get_u32(header + HEADER_SIZE) != RECIPE_HEADER_SIZE || !checksum_holds(&checksum, HEADER_CHECKSUM, header))
        return ingot_set_error_detail(INGOT_BLOB_CORRUPT, "the header of %s is damaged", name);
    return INGOT_SUCCESS;
}

ingot_status_t recipe_scan_begin(struct recipe_scan *scan, int fd, uint64_t file_size, const char *name)
{
    uint8_t header[RECIPE_HEADER_SIZE];
    uint8_t whole[RECIPE_HEADER_SIZE];
    *scan = (struct recipe_scan){.fd = fd, .name = name, .file_size = file_size};
    if (file_size > RECIPE_MAX_FILE_BYTES)
        return ingot_set_error_detail(INGOT_NO_SPACE, "%s has %llu bytes, and a recipe has at most 1 GiB", name,
                                      (unsigned long long)file_size);
    const size_t size = file_size < RECIPE_HEADER_SIZE ? (size_t)file_size : RECIPE_HEADER_SIZE;
    const ingot_status_t status = files_read_all(fd, name, 0, size, header);
    if (status != INGOT_SUCCESS)
        return status;
    if (size == RECIPE_HEADER_SIZE) {
        scan->offset = RECIPE_HEADER_SIZE;
        return check_recipe_header(header, name);
    }
    recipe_put_header(whole);
    return memcmp(header, whole, size) == 0
               ? INGOT_SUCCESS
               : ingot_set_error_detail(INGOT_BLOB_TRUNCATED, "%s is too short to be a recipe", name);
}

/* ---- records ---- */

static uint64_t max_size_of(uint32_t kind)
{
    return kind == RECIPE_RECORD_PROGRAM ? RECIPE_MAX_PROGRAM_BYTES : RECIPE_MAX_TEXT_BYTES;
}

/* Returns false if these bytes are not a record's header. */
static bool take_header(const uint8_t *header, struct recipe_record *record)
{
    struct checksum checksum;
    memcpy(checksum.bytes, header + AT_CHECKSUM, CHECKSUM_SIZE);
    if (memcmp(header, record_magic, sizeof(record_magic)) != 0 || !checksum_holds(&checksum, AT_CHECKSUM, header))
        return false;
    record->kind = le_get_u32(header + AT_KIND);
    record->stored_size = le_get_u64(header + AT_STORED_SIZE);
    record->size = le_get_u64(header + AT_SIZE);
    record->encoding = le_get_u32(header + AT_ENCODING);
    memcpy(record->key, header + AT_KEY, INGOT_RECIPE_KEY_SIZE);
    memcpy(record->checksum.bytes, header + AT_CONTENT_CHECKSUM, CHECKSUM_SIZE);
    const bool fits = record->encoding == ENCODING_PLAIN
                          ? record->stored_size == record->size
                          : record->encoding == ENCODING_ZSTD && record->stored_size < record->size;
    return fits && record->size <= max_size_of(record->kind) && le_get_u32(header + AT_RESERVED) == 0;
}

/* Examines the rest of a file, which is shorter than a record's header. It is an unfinished record only if it begins
 * like a record. */
static ingot_status_t find_torn(const struct recipe_scan *scan, size_t left, enum recipe_found *found)
{
    uint8_t begin[sizeof(record_magic)];
    const size_t size = left < sizeof(begin) ? left : sizeof(begin);
    const ingot_status_t status = files_read_all(scan->fd, scan->name, scan->offset, size, begin);
    if (status == INGOT_SUCCESS && memcmp(begin, record_magic, size) != 0)
        *found = RECIPE_FOUND_UNREADABLE;
    return status;
}

/* Returns the length of the name in a kernel's record whose content has this size, or 0 for other records. */
static uint64_t kernel_bytes(uint32_t kind, uint64_t size)
{
    return kind == RECIPE_RECORD_KERNEL && size > INGOT_RECIPE_KEY_SIZE ? size - INGOT_RECIPE_KEY_SIZE : 0;
}

void recipe_scan_count(struct recipe_scan *scan, uint32_t kind, uint64_t size)
{
    ++scan->count;
    scan->program_bytes += kind == RECIPE_RECORD_PROGRAM ? size : 0;
    scan->kernel_bytes += kernel_bytes(kind, size);
}

ingot_status_t recipe_scan_next(struct recipe_scan *scan, struct recipe_record *record, enum recipe_found *found)
{
    uint8_t header[RECIPE_RECORD_SIZE];
    const uint64_t left = scan->file_size - scan->offset;
    *found = left == 0 ? RECIPE_FOUND_END : RECIPE_FOUND_TORN;
    if (left == 0 || scan->offset == 0)
        return INGOT_SUCCESS;
    if (left < RECIPE_RECORD_SIZE)
        return find_torn(scan, (size_t)left, found);
    if (scan->count == RECIPE_MAX_RECORDS)
        return ingot_set_error_detail(INGOT_NO_SPACE, "%s has more than %u records", scan->name,
                                      (unsigned)RECIPE_MAX_RECORDS);
    const ingot_status_t status = files_read_all(scan->fd, scan->name, scan->offset, sizeof(header), header);
    if (status != INGOT_SUCCESS)
        return status;
    if (!take_header(header, record)) {
        *found = RECIPE_FOUND_UNREADABLE;
        return INGOT_SUCCESS;
    }
    if (record->stored_size > left - RECIPE_RECORD_SIZE)
        return INGOT_SUCCESS;
    record->content = scan->offset + RECIPE_RECORD_SIZE;
    scan->offset = record->content + record->stored_size;
    recipe_scan_count(scan, record->kind, record->size);
    *found = RECIPE_FOUND_RECORD;
    return INGOT_SUCCESS;
}

static ingot_status_t fail_damaged_record(const struct recipe_record *record, const char *name)
{
    return ingot_set_error_detail(INGOT_BLOB_CORRUPT, "%s is damaged: the record at byte %llu", name,
                                  (unsigned long long)(record->content - RECIPE_RECORD_SIZE));
}

static ingot_status_t unpack_record_content(const struct recipe_record *record, const char *name,
                                            const ingot_allocator_t *allocator, const uint8_t *stored, uint8_t **bytes)
{
    uint8_t *unpacked = memory_allocate(allocator, (size_t)record->size);
    if (unpacked == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %llu bytes of %s",
                                      (unsigned long long)record->size, name);
    if (zstd_frame_unpack((size_t)record->stored_size, stored, (size_t)record->size, unpacked)) {
        *bytes = unpacked;
        return INGOT_SUCCESS;
    }
    memory_free(allocator, unpacked, (size_t)record->size);
    return fail_damaged_record(record, name);
}

ingot_status_t recipe_record_read(int fd, const char *name, const struct recipe_record *record,
                                  const ingot_allocator_t *allocator, uint8_t **bytes)
{
    const size_t stored_size = (size_t)record->stored_size;
    uint8_t *stored = memory_allocate(allocator, stored_size);
    if (stored == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %zu bytes of %s", stored_size, name);
    ingot_status_t status = files_read_all(fd, name, record->content, stored_size, stored);
    if (status == INGOT_SUCCESS && !checksum_holds(&record->checksum, stored_size, stored))
        status = fail_damaged_record(record, name);
    if (status == INGOT_SUCCESS && record->encoding == ENCODING_PLAIN) {
        *bytes = stored;
        return INGOT_SUCCESS;
    }
    if (status == INGOT_SUCCESS)
        status = unpack_record_content(record, name, allocator, stored, bytes);
    memory_free(allocator, stored, stored_size);
    return status;
}

/* Appends the content, compressed if that makes it shorter. Returns its size in the file. */
static size_t put_content(struct bytes_writer *buffer, size_t size, const void *content, uint32_t *encoding)
{
    uint8_t *room = bytes_reserve(buffer, size);
    *encoding = ENCODING_PLAIN;
    if (room == NULL || size == 0)
        return 0;
    const size_t packed = size >= LEAST_PACKED ? zstd_frame_pack(size, content, COMPRESSION_LEVEL, room) : 0;
    if (packed == 0) {
        memcpy(room, content, size);
        return size;
    }
    buffer->size -= size - packed;
    *encoding = ENCODING_ZSTD;
    return packed;
}

void recipe_record_put(struct bytes_writer *buffer, enum recipe_record_kind kind, const uint8_t *key, size_t size,
                       const void *content)
{
    uint32_t encoding = ENCODING_PLAIN;
    const size_t start = buffer->size;
    (void)bytes_reserve(buffer, RECIPE_RECORD_SIZE);
    const size_t stored_size = put_content(buffer, size, content, &encoding);
    if (buffer->failed)
        return;
    uint8_t *header = buffer->bytes + start; /* the buffer may have moved */
    const struct checksum of_content = checksum_of(stored_size, header + RECIPE_RECORD_SIZE);
    memcpy(header, record_magic, sizeof(record_magic));
    le_put_u32(header + AT_KIND, (uint32_t)kind);
    le_put_u64(header + AT_STORED_SIZE, stored_size);
    le_put_u64(header + AT_SIZE, size);
    le_put_u32(header + AT_ENCODING, encoding);
    le_put_u32(header + AT_RESERVED, 0);
    memcpy(header + AT_KEY, key, INGOT_RECIPE_KEY_SIZE);
    memcpy(header + AT_CONTENT_CHECKSUM, of_content.bytes, CHECKSUM_SIZE);
    const struct checksum checksum = checksum_of(AT_CHECKSUM, header);
    memcpy(header + AT_CHECKSUM, checksum.bytes, CHECKSUM_SIZE);
}
