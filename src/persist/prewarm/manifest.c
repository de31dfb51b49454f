/*
 * manifest.c - keeps, encodes, decodes and reads a manifest; see doc/manifest-format.md.
 */
#include "persist/prewarm/manifest.h"

#include <ingot/backend.h>
#include <ingot/prewarm.h>
#include <string.h>

#include "persist/base/checksum.h"
#include "persist/base/memory.h"
#include "persist/base/replacement.h"
#include "util/little_endian.h"

#define FORMAT_VERSION 1u
#define CHECKED_SIZE 48u
#define ENTRY_OVERHEAD 8u
static const uint8_t magic[8] = {0x89, 'I', 'N', 'G', 'M', 'A', 'N', '\n'};

void manifest_init(struct manifest *manifest, const ingot_allocator_t *allocator)
{
    *manifest = (struct manifest){.allocator = *allocator};
    bytes_writer_init(&manifest->bytes, &manifest->allocator);
    bytes_writer_init(&manifest->offsets, &manifest->allocator);
    key_map_init(&manifest->indices, &manifest->allocator);
}

void manifest_fini(struct manifest *manifest)
{
    bytes_writer_fini(&manifest->bytes);
    bytes_writer_fini(&manifest->offsets);
    key_map_fini(&manifest->indices);
    manifest->count = 0;
}

struct manifest_entry manifest_get(const struct manifest *manifest, size_t index)
{
    const size_t *offsets = (const size_t *)(const void *)manifest->offsets.bytes;
    const uint8_t *entry = manifest->bytes.bytes + offsets[index];
    return (struct manifest_entry){le_get_u32(entry), entry + ENTRY_OVERHEAD, le_get_u32(entry + 4)};
}

/* ---- finding and adding ---- */

/* The key of an id is its checksum. If a forged manifest has two ids with the same one, the second is left out. */
static void make_id_key(size_t id_size, const uint8_t *id, uint8_t key[KEY_MAP_KEY_SIZE])
{
    const struct checksum sum = checksum_of(id_size, id);
    memset(key, 0, KEY_MAP_KEY_SIZE);
    memcpy(key, sum.bytes, CHECKSUM_SIZE);
}

size_t manifest_find(const struct manifest *manifest, size_t id_size, const uint8_t *id)
{
    uint8_t key[KEY_MAP_KEY_SIZE];
    size_t index = MANIFEST_NONE;
    make_id_key(id_size, id, key);
    (void)key_map_find(&manifest->indices, key, &index);
    return index;
}

bool manifest_has_room(const struct manifest *manifest, size_t id_size, uint32_t max_entries, uint64_t max_bytes)
{
    const uint64_t size = manifest->count != 0 ? manifest->bytes.size : MANIFEST_HEADER_SIZE;
    return manifest->count < max_entries && size + ENTRY_OVERHEAD + id_size <= max_bytes;
}

static ingot_status_t fail_manifest_memory(const struct manifest *manifest)
{
    return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a manifest of %zu ids", manifest->count + 1);
}

ingot_status_t manifest_add(struct manifest *manifest, size_t id_size, const uint8_t *id, uint32_t age)
{
    uint8_t key[KEY_MAP_KEY_SIZE];
    struct bytes_writer *bytes = &manifest->bytes;
    make_id_key(id_size, id, key);
    if (bytes->size == 0)
        (void)bytes_reserve(bytes, MANIFEST_HEADER_SIZE);
    const size_t offset = bytes->size;
    bytes_put_u32(bytes, (uint32_t)id_size);
    bytes_put_u32(bytes, age);
    bytes_put(bytes, id_size, id);
    bytes_put(&manifest->offsets, sizeof(offset), &offset);
    if (bytes->failed || manifest->offsets.failed || !key_map_add(&manifest->indices, key, manifest->count)) {
        bytes->size = offset;
        manifest->offsets.size = manifest->count * sizeof(offset);
        bytes->failed = manifest->offsets.failed = false; /* there may be memory for the next id */
        return fail_manifest_memory(manifest);
    }
    ++manifest->count;
    return INGOT_SUCCESS;
}

/* ---- the format ---- */

ingot_status_t manifest_complete(struct manifest *manifest)
{
    if (manifest->bytes.size == 0)
        (void)bytes_reserve(&manifest->bytes, MANIFEST_HEADER_SIZE);
    if (manifest->bytes.size == 0)
        return fail_manifest_memory(manifest);
    uint8_t *bytes = manifest->bytes.bytes;
    memset(bytes, 0, MANIFEST_HEADER_SIZE);
    memcpy(bytes, magic, sizeof(magic));
    le_put_u32(bytes + 8, FORMAT_VERSION);
    le_put_u32(bytes + 12, MANIFEST_HEADER_SIZE);
    le_put_u64(bytes + 16, manifest->bytes.size);
    le_put_u32(bytes + 24, (uint32_t)manifest->count);
    const size_t entries_size = manifest->bytes.size - MANIFEST_HEADER_SIZE;
    const struct checksum entries = checksum_of(entries_size, bytes + MANIFEST_HEADER_SIZE);
    memcpy(bytes + 32, entries.bytes, CHECKSUM_SIZE);
    const struct checksum header = checksum_of(CHECKED_SIZE, bytes);
    memcpy(bytes + CHECKED_SIZE, header.bytes, CHECKSUM_SIZE);
    return INGOT_SUCCESS;
}

static ingot_status_t fail_corrupt_manifest(const char *what)
{
    return ingot_set_error_detail(INGOT_BLOB_CORRUPT, "the manifest is corrupt: %s", what);
}

static ingot_status_t check_manifest_header(size_t size, const uint8_t *bytes)
{
    if (size < MANIFEST_HEADER_SIZE)
        return ingot_set_error_detail(INGOT_BLOB_TRUNCATED, "the manifest ends within its header");
    if (size > MANIFEST_MAX_SIZE)
        return fail_corrupt_manifest("it is larger than a manifest can be");
    if (memcmp(bytes, magic, sizeof(magic)) != 0)
        return fail_corrupt_manifest("it does not begin with a manifest's magic number");
    const uint32_t version = le_get_u32(bytes + 8);
    if (version != FORMAT_VERSION)
        return ingot_set_error_detail(INGOT_BLOB_VERSION, "the manifest has format version %u", (unsigned)version);
    const struct checksum checksum = checksum_of(CHECKED_SIZE, bytes);
    if (le_get_u32(bytes + 12) != MANIFEST_HEADER_SIZE ||
        memcmp(bytes + CHECKED_SIZE, checksum.bytes, CHECKSUM_SIZE) != 0)
        return fail_corrupt_manifest("the checksum of its header does not match");
    if (le_get_u32(bytes + 24) > MANIFEST_MAX_ENTRIES)
        return fail_corrupt_manifest("it has more entries than a manifest can have");
    const uint64_t recorded_size = le_get_u64(bytes + 16);
    if (recorded_size != size)
        return ingot_set_error_detail(size < recorded_size ? INGOT_BLOB_TRUNCATED : INGOT_BLOB_CORRUPT,
                                      "the manifest has %zu bytes instead of %llu", size,
                                      (unsigned long long)recorded_size);
    const struct checksum entries = checksum_of(size - MANIFEST_HEADER_SIZE, bytes + MANIFEST_HEADER_SIZE);
    if (memcmp(bytes + 32, entries.bytes, CHECKSUM_SIZE) != 0)
        return fail_corrupt_manifest("the checksum of its entries does not match");
    return INGOT_SUCCESS;
}

static ingot_status_t decode_entries(struct manifest *manifest, size_t size, const uint8_t *bytes)
{
    const uint32_t count = le_get_u32(bytes + 24);
    size_t offset = MANIFEST_HEADER_SIZE;
    ingot_status_t status = INGOT_SUCCESS;
    for (uint32_t i = 0; i < count && status == INGOT_SUCCESS; ++i) {
        if (size - offset < ENTRY_OVERHEAD)
            return fail_corrupt_manifest("it has fewer entries than its header states");
        const uint32_t id_size = le_get_u32(bytes + offset);
        const uint32_t age = le_get_u32(bytes + offset + 4);
        offset += ENTRY_OVERHEAD;
        if (id_size == 0 || id_size > size - offset)
            return fail_corrupt_manifest("an id is empty, or larger than what is left");
        if (manifest_find(manifest, id_size, bytes + offset) == MANIFEST_NONE)
            status = manifest_add(manifest, id_size, bytes + offset, age);
        offset += id_size;
    }
    if (status == INGOT_SUCCESS && offset != size)
        return fail_corrupt_manifest("it has bytes that belong to no entry");
    return status;
}

ingot_status_t manifest_decode(struct manifest *manifest, size_t size, const uint8_t *bytes)
{
    ingot_status_t status = check_manifest_header(size, bytes);
    if (status == INGOT_SUCCESS)
        status = decode_entries(manifest, size, bytes);
    if (status != INGOT_SUCCESS)
        manifest_fini(manifest);
    return status;
}

/* ---- the file ---- */

ingot_status_t manifest_read(struct manifest *manifest, const char *path)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    ingot_status_t status = replacement_read(path, &manifest->allocator, MANIFEST_MAX_SIZE, false, &size, &bytes);
    if (status == INGOT_SUCCESS)
        status = manifest_decode(manifest, size, bytes);
    memory_free(&manifest->allocator, bytes, size);
    return status;
}

ingot_status_t ingot_manifest_read(const char *path, ingot_manifest_visit_t visit, void *user)
{
    ingot_allocator_t allocator;
    struct manifest manifest;
    if (path == NULL || path[0] == '\0' || visit == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "path or visit is missing");
    (void)memory_init(&allocator, NULL);
    manifest_init(&manifest, &allocator);
    ingot_status_t status = manifest_read(&manifest, path);
    for (size_t i = 0; status == INGOT_SUCCESS && i < manifest.count; ++i) {
        const struct manifest_entry entry = manifest_get(&manifest, i);
        status = visit(entry.id_size, entry.id, entry.age, user);
    }
    manifest_fini(&manifest);
    return status;
}
