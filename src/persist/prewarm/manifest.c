/*
 * manifest.c - keeps, encodes and decodes a manifest; see doc/manifest-format.md.
 */
#include "persist/prewarm/manifest.h"

#include <ingot/backend.h>
#include <string.h>

#include "persist/base/checksum.h"
#include "persist/base/memory.h"
#include "util/little_endian.h"

#define FORMAT_VERSION 1u
#define CHECKED_SIZE 48u
#define ENTRY_OVERHEAD 8u
#define FIRST_COUNT 64u
#define FIRST_SIZE 4096u

static const uint8_t magic[8] = {0x89, 'I', 'N', 'G', 'M', 'A', 'N', '\n'};

void manifest_init(struct manifest *manifest, const ingot_allocator_t *allocator)
{
    *manifest = (struct manifest){.allocator = *allocator, .size = MANIFEST_HEADER_SIZE};
}

static void free_places(const struct manifest *manifest)
{
    memory_free(&manifest->allocator, manifest->places, manifest->place_capacity * sizeof(*manifest->places));
    memory_free(&manifest->allocator, manifest->slots, 2 * manifest->place_capacity * sizeof(*manifest->slots));
}

void manifest_fini(struct manifest *manifest)
{
    const ingot_allocator_t allocator = manifest->allocator;
    memory_free(&allocator, manifest->bytes, manifest->capacity);
    free_places(manifest);
    manifest_init(manifest, &allocator);
}

struct manifest_entry manifest_get(const struct manifest *manifest, size_t index)
{
    const uint8_t *entry = manifest->bytes + manifest->places[index].offset;
    return (struct manifest_entry){le_get_u32(entry), entry + ENTRY_OVERHEAD, le_get_u32(entry + 4)};
}

/* ---- finding and adding ---- */

/* Returns the slot of the id, or the empty slot where it would go. At least half of the slots are empty. */
static size_t slot_of(const struct manifest *manifest, uint64_t hash, size_t id_size, const uint8_t *id)
{
    const size_t slot_count = 2 * manifest->place_capacity;
    size_t slot = (size_t)(hash % slot_count);
    for (; manifest->slots[slot] != 0; slot = (slot + 1) % slot_count) {
        const size_t index = manifest->slots[slot] - 1;
        const struct manifest_entry entry = manifest_get(manifest, index);
        if (manifest->places[index].hash == hash && entry.id_size == id_size && memcmp(entry.id, id, id_size) == 0)
            break;
    }
    return slot;
}

size_t manifest_find(const struct manifest *manifest, size_t id_size, const uint8_t *id)
{
    if (manifest->count == 0)
        return MANIFEST_NONE;
    const uint32_t found = manifest->slots[slot_of(manifest, checksum_bucket_of(id_size, id), id_size, id)];
    return found != 0 ? found - 1 : MANIFEST_NONE;
}

bool manifest_has_room(const struct manifest *manifest, size_t id_size, uint32_t max_entries, uint64_t max_bytes)
{
    return manifest->count < max_entries && (uint64_t)manifest->size + ENTRY_OVERHEAD + id_size <= max_bytes;
}

static ingot_status_t no_memory(const struct manifest *manifest)
{
    return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a manifest of %zu ids", manifest->count + 1);
}

/* Makes room for `more` bytes. */
static ingot_status_t reserve(struct manifest *manifest, size_t more)
{
    size_t capacity = manifest->capacity != 0 ? manifest->capacity : FIRST_SIZE;
    while (capacity < manifest->size + more)
        capacity *= 2;
    if (capacity == manifest->capacity)
        return INGOT_SUCCESS;
    uint8_t *bytes = memory_allocate(&manifest->allocator, capacity);
    if (bytes == NULL)
        return no_memory(manifest);
    if (manifest->bytes != NULL)
        memcpy(bytes, manifest->bytes, manifest->size);
    memory_free(&manifest->allocator, manifest->bytes, manifest->capacity);
    manifest->bytes = bytes;
    manifest->capacity = capacity;
    return INGOT_SUCCESS;
}

/* Makes room for one more place. */
static ingot_status_t grow_places(struct manifest *manifest)
{
    struct manifest larger = *manifest;
    if (manifest->count < manifest->place_capacity)
        return INGOT_SUCCESS;
    larger.place_capacity = manifest->place_capacity != 0 ? 2 * manifest->place_capacity : FIRST_COUNT;
    larger.places = memory_allocate(&manifest->allocator, larger.place_capacity * sizeof(*larger.places));
    larger.slots = memory_allocate(&manifest->allocator, 2 * larger.place_capacity * sizeof(*larger.slots));
    if (larger.places == NULL || larger.slots == NULL) {
        free_places(&larger);
        return no_memory(manifest);
    }
    memset(larger.slots, 0, 2 * larger.place_capacity * sizeof(*larger.slots));
    for (size_t i = 0; i < manifest->count; ++i) {
        const struct manifest_entry entry = manifest_get(manifest, i);
        larger.places[i] = manifest->places[i];
        larger.slots[slot_of(&larger, larger.places[i].hash, entry.id_size, entry.id)] = (uint32_t)i + 1;
    }
    free_places(manifest);
    *manifest = larger;
    return INGOT_SUCCESS;
}

ingot_status_t manifest_add(struct manifest *manifest, size_t id_size, const uint8_t *id, uint32_t age)
{
    ingot_status_t status = reserve(manifest, ENTRY_OVERHEAD + id_size);
    if (status == INGOT_SUCCESS)
        status = grow_places(manifest);
    if (status != INGOT_SUCCESS)
        return status;
    const uint64_t hash = checksum_bucket_of(id_size, id);
    const size_t slot = slot_of(manifest, hash, id_size, id);
    uint8_t *entry = manifest->bytes + manifest->size;
    le_put_u32(entry, (uint32_t)id_size);
    le_put_u32(entry + 4, age);
    memcpy(entry + ENTRY_OVERHEAD, id, id_size);
    manifest->places[manifest->count] = (struct manifest_place){manifest->size, hash};
    manifest->slots[slot] = (uint32_t)++manifest->count;
    manifest->size += ENTRY_OVERHEAD + id_size;
    return INGOT_SUCCESS;
}

/* ---- the format ---- */

ingot_status_t manifest_complete(struct manifest *manifest)
{
    const ingot_status_t status = reserve(manifest, 0);
    if (status != INGOT_SUCCESS)
        return status;
    uint8_t *bytes = manifest->bytes;
    memset(bytes, 0, MANIFEST_HEADER_SIZE);
    memcpy(bytes, magic, sizeof(magic));
    le_put_u32(bytes + 8, FORMAT_VERSION);
    le_put_u32(bytes + 12, MANIFEST_HEADER_SIZE);
    le_put_u64(bytes + 16, manifest->size);
    le_put_u32(bytes + 24, (uint32_t)manifest->count);
    const struct checksum entries = checksum_of(manifest->size - MANIFEST_HEADER_SIZE, bytes + MANIFEST_HEADER_SIZE);
    memcpy(bytes + 32, entries.bytes, CHECKSUM_SIZE);
    const struct checksum header = checksum_of(CHECKED_SIZE, bytes);
    memcpy(bytes + CHECKED_SIZE, header.bytes, CHECKSUM_SIZE);
    return INGOT_SUCCESS;
}

static ingot_status_t corrupt(const char *what)
{
    return ingot_set_error_detail(INGOT_BLOB_CORRUPT, "the manifest is corrupt: %s", what);
}

static ingot_status_t check_header(size_t size, const uint8_t *bytes)
{
    if (size < MANIFEST_HEADER_SIZE)
        return ingot_set_error_detail(INGOT_BLOB_TRUNCATED, "the manifest ends within its header");
    if (size > MANIFEST_MAX_SIZE)
        return corrupt("it is larger than a manifest can be");
    if (memcmp(bytes, magic, sizeof(magic)) != 0)
        return corrupt("it does not begin with a manifest's magic number");
    const uint32_t version = le_get_u32(bytes + 8);
    if (version != FORMAT_VERSION)
        return ingot_set_error_detail(INGOT_BLOB_VERSION, "the manifest has format version %u", (unsigned)version);
    const struct checksum checksum = checksum_of(CHECKED_SIZE, bytes);
    if (le_get_u32(bytes + 12) != MANIFEST_HEADER_SIZE ||
        memcmp(bytes + CHECKED_SIZE, checksum.bytes, CHECKSUM_SIZE) != 0)
        return corrupt("the checksum of its header does not match");
    if (le_get_u32(bytes + 24) > MANIFEST_MAX_ENTRIES)
        return corrupt("it has more entries than a manifest can have");
    const uint64_t recorded_size = le_get_u64(bytes + 16);
    if (recorded_size != size)
        return ingot_set_error_detail(size < recorded_size ? INGOT_BLOB_TRUNCATED : INGOT_BLOB_CORRUPT,
                                      "the manifest has %zu bytes instead of %llu", size,
                                      (unsigned long long)recorded_size);
    const struct checksum entries = checksum_of(size - MANIFEST_HEADER_SIZE, bytes + MANIFEST_HEADER_SIZE);
    if (memcmp(bytes + 32, entries.bytes, CHECKSUM_SIZE) != 0)
        return corrupt("the checksum of its entries does not match");
    return INGOT_SUCCESS;
}

static ingot_status_t decode_entries(struct manifest *manifest, size_t size, const uint8_t *bytes)
{
    const uint32_t count = le_get_u32(bytes + 24);
    size_t offset = MANIFEST_HEADER_SIZE;
    ingot_status_t status = INGOT_SUCCESS;
    for (uint32_t i = 0; i < count && status == INGOT_SUCCESS; ++i) {
        if (size - offset < ENTRY_OVERHEAD)
            return corrupt("it has fewer entries than its header states");
        const uint32_t id_size = le_get_u32(bytes + offset);
        const uint32_t age = le_get_u32(bytes + offset + 4);
        offset += ENTRY_OVERHEAD;
        if (id_size == 0 || id_size > size - offset)
            return corrupt("an id is empty, or larger than what is left");
        if (manifest_find(manifest, id_size, bytes + offset) == MANIFEST_NONE)
            status = manifest_add(manifest, id_size, bytes + offset, age);
        offset += id_size;
    }
    if (status == INGOT_SUCCESS && offset != size)
        return corrupt("it has bytes that belong to no entry");
    return status;
}

ingot_status_t manifest_decode(struct manifest *manifest, size_t size, const uint8_t *bytes)
{
    ingot_status_t status = check_header(size, bytes);
    if (status == INGOT_SUCCESS)
        status = decode_entries(manifest, size, bytes);
    if (status != INGOT_SUCCESS)
        manifest_fini(manifest);
    return status;
}
