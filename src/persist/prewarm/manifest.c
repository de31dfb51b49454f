/*
 * manifest.c - encodes and decodes a manifest; see doc/manifest-format.md.
 */
#include "persist/prewarm/manifest.h"

#include <ingot/backend.h>
#include <string.h>

#include "persist/base/checksum.h"
#include "persist/base/memory.h"
#include "util/little_endian.h"

#define FORMAT_VERSION 1u
#define CHECKED_SIZE 48u

static const uint8_t magic[8] = {0x89, 'I', 'N', 'G', 'M', 'A', 'N', '\n'};

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

ingot_status_t manifest_decode(struct id_list *ids, size_t size, const uint8_t *bytes)
{
    ingot_status_t status = check_header(size, bytes);
    if (status != INGOT_SUCCESS)
        return status;
    const uint32_t count = le_get_u32(bytes + 24);
    size_t offset = MANIFEST_HEADER_SIZE;
    for (uint32_t i = 0; i < count && status == INGOT_SUCCESS; ++i) {
        if (size - offset < MANIFEST_ENTRY_OVERHEAD)
            return corrupt("it has fewer entries than its header states");
        const uint32_t id_size = le_get_u32(bytes + offset);
        const uint32_t age = le_get_u32(bytes + offset + 4);
        const uint8_t *id = bytes + offset + MANIFEST_ENTRY_OVERHEAD;
        offset += MANIFEST_ENTRY_OVERHEAD;
        if (id_size == 0 || id_size > size - offset)
            return corrupt("an id is empty, or larger than what is left");
        offset += id_size;
        if (id_list_find(ids, id_size, id) == ID_LIST_NONE)
            status = id_list_add(ids, id_size, id, age);
    }
    if (status == INGOT_SUCCESS && offset != size)
        return corrupt("it has bytes that belong to no entry");
    return status;
}

ingot_status_t manifest_encode(const struct id_list *ids, uint8_t **bytes, size_t *size)
{
    *size = MANIFEST_HEADER_SIZE;
    for (size_t i = 0; i < ids->count; ++i)
        *size += MANIFEST_ENTRY_OVERHEAD + ids->ids[i].size;
    uint8_t *made = memory_allocate(&ids->allocator, *size);
    if (made == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a manifest of %zu bytes", *size);
    uint8_t *place = made + MANIFEST_HEADER_SIZE;
    for (size_t i = 0; i < ids->count; ++i) {
        const struct listed_id *listed = &ids->ids[i];
        le_put_u32(place, (uint32_t)listed->size);
        le_put_u32(place + 4, listed->age);
        memcpy(place + MANIFEST_ENTRY_OVERHEAD, listed->bytes, listed->size);
        place += MANIFEST_ENTRY_OVERHEAD + listed->size;
    }
    memset(made, 0, MANIFEST_HEADER_SIZE);
    memcpy(made, magic, sizeof(magic));
    le_put_u32(made + 8, FORMAT_VERSION);
    le_put_u32(made + 12, MANIFEST_HEADER_SIZE);
    le_put_u64(made + 16, *size);
    le_put_u32(made + 24, (uint32_t)ids->count);
    const struct checksum entries = checksum_of(*size - MANIFEST_HEADER_SIZE, made + MANIFEST_HEADER_SIZE);
    memcpy(made + 32, entries.bytes, CHECKSUM_SIZE);
    const struct checksum header = checksum_of(CHECKED_SIZE, made);
    memcpy(made + CHECKED_SIZE, header.bytes, CHECKSUM_SIZE);
    *bytes = made;
    return INGOT_SUCCESS;
}
