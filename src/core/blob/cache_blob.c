/*
 * cache_blob.c - writes and reads the format of blobs; see cache_blob.h and doc/blob-format.md.
 */
#include "core/blob/cache_blob.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"

#define BLOB_MAGIC "INGOTRES"

enum {
    BLOB_MAGIC_SIZE = 8,
    BLOB_FORMAT_VERSION = 1,
    BLOB_VERSIONED_SIZE = BLOB_MAGIC_SIZE + 4, /* size of the beginning that all versions have in common */
    BLOB_HEADER_SIZE = BLOB_VERSIONED_SIZE + 4 + 6 * 8 + 2 * DIGEST_SIZE,
    BLOB_SECTION_SIZE = DIGEST_SIZE + 8, /* size of an entry in the table of sections */
    BLOB_CHECKSUM_SIZE = 16
};

static int compare_sections(const void *a, const void *b)
{
    return memcmp(((const struct blob_section *)a)->identity_digest, ((const struct blob_section *)b)->identity_digest,
                  DIGEST_SIZE);
}

void blob_write(struct bytes_writer *writer, const struct blob_view *view, struct blob_section *sections)
{
    const size_t start = writer->size;

    if (view->section_count > 1)
        qsort(sections, view->section_count, sizeof(*sections), compare_sections);
    bytes_put(writer, BLOB_MAGIC_SIZE, BLOB_MAGIC);
    bytes_put_u32(writer, BLOB_FORMAT_VERSION);
    bytes_put_u32(writer, view->section_count);
    bytes_put_u64(writer, 0); /* placeholder for the total size, which is written below */
    bytes_put_u64(writer, view->names_size);
    bytes_put_u64(writer, view->log_size);
    bytes_put_u64(writer, view->source_name_size);
    bytes_put_u64(writer, view->files_size);
    bytes_put_u64(writer, view->build_ns);
    bytes_put(writer, DIGEST_SIZE, view->library_digest);
    bytes_put(writer, DIGEST_SIZE, view->request_digest);
    for (uint32_t i = 0; i < view->section_count; ++i) {
        bytes_put(writer, DIGEST_SIZE, sections[i].identity_digest);
        bytes_put_u64(writer, sections[i].binary.size);
    }
    bytes_put(writer, view->names_size, view->names);
    bytes_put(writer, view->log_size, view->log);
    bytes_put(writer, view->source_name_size, view->source_name);
    bytes_put(writer, view->files_size, view->files);
    for (uint32_t i = 0; i < view->section_count; ++i)
        bytes_put(writer, sections[i].binary.size, sections[i].binary.bytes);
    bytes_patch_u64(writer, start + BLOB_VERSIONED_SIZE + 4, writer->size - start + BLOB_CHECKSUM_SIZE);
    if (writer->failed)
        return;
    const struct hash128 checksum = hash128_of(writer->size - start, writer->bytes + start);
    bytes_put_u64(writer, checksum.low);
    bytes_put_u64(writer, checksum.high);
}

static ingot_status_t fail_blob_truncated(size_t size)
{
    return error_set(INGOT_BLOB_TRUNCATED, "the blob has %zu bytes, fewer than its header says", size);
}

static ingot_status_t fail_blob_corrupt(const char *what)
{
    return error_set(INGOT_BLOB_CORRUPT, "the blob is corrupt: %s", what);
}

/* Checks the magic, the version, the total size and the checksum. Leaves the reader after the total size, and makes it
 * end before the checksum. */
static ingot_status_t check_blob_frame(struct bytes_reader *reader, struct blob_view *view, size_t size,
                                       const uint8_t *blob)
{
    bytes_reader_init(reader, size, blob);
    const uint8_t *magic = bytes_get(reader, BLOB_MAGIC_SIZE);
    if (magic == NULL)
        return fail_blob_truncated(size);
    if (memcmp(magic, BLOB_MAGIC, BLOB_MAGIC_SIZE) != 0)
        return fail_blob_corrupt("it does not begin with a blob's magic number");
    const uint32_t version = bytes_get_u32(reader);
    if (!reader->failed && version != BLOB_FORMAT_VERSION)
        return error_set(INGOT_BLOB_VERSION, "a blob of format version %" PRIu32 "; this library reads version %d",
                         version, BLOB_FORMAT_VERSION);
    view->section_count = bytes_get_u32(reader);
    const uint64_t total_size = bytes_get_u64(reader);
    if (reader->failed || total_size > size)
        return fail_blob_truncated(size);
    if (total_size != size || size < BLOB_HEADER_SIZE + BLOB_CHECKSUM_SIZE)
        return fail_blob_corrupt("its size differs from the size in its header");

    const size_t covered = size - BLOB_CHECKSUM_SIZE;
    const struct hash128 checksum = hash128_of(covered, blob);
    if (le_get_u64(blob + covered) != checksum.low || le_get_u64(blob + covered + 8) != checksum.high)
        return fail_blob_corrupt("its checksum does not match");
    reader->size = covered;
    return INGOT_SUCCESS;
}

static ingot_status_t check_sections(const struct blob_view *view, struct bytes_reader *reader)
{
    for (uint32_t i = 0; i < view->section_count; ++i) {
        uint64_t binary_size = 0;
        const uint8_t *digest = blob_section_at(view, i, &binary_size);
        if (i != 0 && memcmp(digest - BLOB_SECTION_SIZE, digest, DIGEST_SIZE) >= 0)
            return fail_blob_corrupt("its sections are not in order");
        if (binary_size > bytes_left(reader))
            return fail_blob_corrupt("a section is larger than the blob");
        (void)bytes_get(reader, (size_t)binary_size);
    }
    return bytes_left(reader) == 0 ? INGOT_SUCCESS : fail_blob_corrupt("it has bytes after its last part");
}

const uint8_t *blob_next_file(struct bytes_reader *files, size_t *name_size, const char **name)
{
    if (bytes_left(files) == 0)
        return NULL;
    const uint8_t *digest = bytes_get(files, DIGEST_SIZE);
    *name = (const char *)bytes_get_framed(files, name_size);
    return files->failed ? NULL : digest;
}

bool blob_files_are_whole(size_t size, const uint8_t *bytes)
{
    struct bytes_reader files;
    size_t name_size = 0;
    const char *name = NULL;
    bytes_reader_init(&files, size, bytes);
    while (blob_next_file(&files, &name_size, &name) != NULL) {
        if (name_size != 0 && memchr(name, '\0', name_size) != NULL)
            return false;
    }
    return !files.failed;
}

ingot_status_t blob_read(struct blob_view *view, size_t size, const uint8_t *blob)
{
    struct bytes_reader reader;

    memset(view, 0, sizeof(*view));
    const ingot_status_t status = check_blob_frame(&reader, view, size, blob);
    if (status != INGOT_SUCCESS)
        return status;
    const uint64_t names_size = bytes_get_u64(&reader);
    const uint64_t log_size = bytes_get_u64(&reader);
    const uint64_t source_name_size = bytes_get_u64(&reader);
    const uint64_t files_size = bytes_get_u64(&reader);
    view->build_ns = bytes_get_u64(&reader);
    view->library_digest = bytes_get(&reader, DIGEST_SIZE);
    view->request_digest = bytes_get(&reader, DIGEST_SIZE);
    if (view->section_count > bytes_left(&reader) / BLOB_SECTION_SIZE)
        return fail_blob_corrupt("it has more sections than bytes");
    view->section_table = bytes_get(&reader, (size_t)view->section_count * BLOB_SECTION_SIZE);
    const size_t left = bytes_left(&reader);
    if (names_size > left || log_size > left - names_size || source_name_size > left - names_size - log_size ||
        files_size > left - names_size - log_size - source_name_size)
        return fail_blob_corrupt("its names and log are larger than the blob");
    view->names_size = (size_t)names_size;
    view->names = (const char *)bytes_get(&reader, view->names_size);
    view->log_size = (size_t)log_size;
    view->log = (const char *)bytes_get(&reader, view->log_size);
    view->source_name_size = (size_t)source_name_size;
    view->source_name = (const char *)bytes_get(&reader, view->source_name_size);
    view->files_size = (size_t)files_size;
    view->files = bytes_get(&reader, view->files_size);
    view->first_binary = reader.bytes + reader.offset;
    if (view->names_size != 0 && view->names[view->names_size - 1] != '\0')
        return fail_blob_corrupt("its last kernel name is not terminated");
    const char *last = view->names;
    for (const char *name = last; name < view->names + view->names_size; name += strlen(name) + 1) {
        if (strcmp(last, name) > 0)
            return fail_blob_corrupt("its kernel names are not in order");
        last = name;
    }
    if (view->source_name_size != 0 && memchr(view->source_name, '\0', view->source_name_size) != NULL)
        return fail_blob_corrupt("its source's name contains NUL");
    if (!blob_files_are_whole(view->files_size, view->files))
        return fail_blob_corrupt("its list of included files is malformed");
    return check_sections(view, &reader);
}

const uint8_t *blob_section_at(const struct blob_view *view, uint32_t index, uint64_t *binary_size)
{
    const uint8_t *section = view->section_table + (size_t)index * BLOB_SECTION_SIZE;
    *binary_size = le_get_u64(section + DIGEST_SIZE);
    return section;
}

ingot_binary_t blob_find_section(const struct blob_view *view, const uint8_t identity_digest[DIGEST_SIZE])
{
    const uint8_t *binary = view->first_binary;
    uint64_t size = 0;

    for (uint32_t i = 0; i < view->section_count; ++i) {
        if (memcmp(blob_section_at(view, i, &size), identity_digest, DIGEST_SIZE) == 0)
            return (ingot_binary_t){(size_t)size, binary};
        binary += size;
    }
    return (ingot_binary_t){0, NULL};
}
