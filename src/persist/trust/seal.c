/*
 * seal.c - reads and writes the envelope of a sealed blob; see seal.h.
 */
#include "persist/trust/seal.h"

#include <ingot/backend.h>
#include <string.h>

#include "persist/base/base.h"
#include "util/little_endian.h"

#define VERSION 1u
#define AT_VERSION 8u

static const uint8_t magic[] = {0x89, 'I', 'N', 'G', 'S', 'E', 'L', '\n'};

/* The owner of a buffer that seal_open returned. */
struct opened {
    ingot_allocator_t allocator;
    ingot_buffer_t sealed; /* as the storage returned it */
};

bool seal_is(size_t size, const uint8_t *bytes)
{
    return size >= sizeof(magic) && memcmp(bytes, magic, sizeof(magic)) == 0;
}

ingot_status_t seal_examine(size_t size, const uint8_t *bytes)
{
    if (size >= AT_VERSION + sizeof(uint32_t) && le_get_u32(bytes + AT_VERSION) != VERSION)
        return ingot_set_error_detail(INGOT_BLOB_VERSION, "the blob's seal has version %u, and this library reads %u",
                                      (unsigned)le_get_u32(bytes + AT_VERSION), VERSION);
    if (size <= SEAL_SIZE)
        return ingot_set_error_detail(INGOT_BLOB_TRUNCATED, "a sealed blob of %zu bytes ends within its seal", size);
    return INGOT_SUCCESS;
}

uint32_t seal_algorithm(const uint8_t *bytes)
{
    return le_get_u32(bytes + SEAL_AT_ALGORITHM);
}

void seal_begin(uint8_t header[SEAL_SIZE], enum seal_algorithm algorithm, const uint8_t key_id[SEAL_KEY_ID_SIZE])
{
    memset(header, 0, SEAL_SIZE);
    memcpy(header, magic, sizeof(magic));
    le_put_u32(header + AT_VERSION, VERSION);
    le_put_u32(header + SEAL_AT_ALGORITHM, algorithm);
    memcpy(header + SEAL_AT_KEY_ID, key_id, SEAL_KEY_ID_SIZE);
}

static void release_opened(ingot_buffer_t *buffer)
{
    struct opened *opened = buffer->owner;
    const ingot_allocator_t allocator = opened->allocator;
    memory_release_buffer(&opened->sealed);
    memory_free(&allocator, opened, sizeof(*opened));
}

ingot_status_t seal_open(const ingot_allocator_t *allocator, ingot_buffer_t *buffer)
{
    if (!seal_is(buffer->size, buffer->bytes))
        return INGOT_SUCCESS;
    const ingot_status_t status = seal_examine(buffer->size, buffer->bytes);
    struct opened *opened = status == INGOT_SUCCESS ? memory_allocate(allocator, sizeof(*opened)) : NULL;
    if (opened == NULL) {
        memory_release_buffer(buffer);
        return status != INGOT_SUCCESS ? status
                                       : ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory to open a sealed blob");
    }
    *opened = (struct opened){*allocator, *buffer};
    *buffer =
        (ingot_buffer_t){opened->sealed.size - SEAL_SIZE, opened->sealed.bytes + SEAL_SIZE, release_opened, opened};
    return INGOT_SUCCESS;
}
