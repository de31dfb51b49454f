/*
 * bytes_reader.h - reads integers and byte strings that a bytes_writer wrote, with bounds checks.
 *
 * Structures are never written or cast as a whole. The first read that would go past the end sets `failed` and returns
 * 0 or NULL, as do all later reads, so callers check `failed` once at the end.
 */
#ifndef INGOT_UTIL_BYTES_READER_H
#define INGOT_UTIL_BYTES_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/little_endian.h"

struct bytes_reader {
    const uint8_t *bytes;
    size_t size;
    size_t offset;
    bool failed;
};

/* The small readers are inline, because each load of a small program reads a dozen fields. */
static inline void bytes_reader_init(struct bytes_reader *reader, size_t size, const uint8_t *bytes)
{
    reader->bytes = bytes;
    reader->size = size;
    reader->offset = 0;
    reader->failed = false;
}

static inline size_t bytes_left(const struct bytes_reader *reader)
{
    return reader->failed ? 0 : reader->size - reader->offset;
}

/* Returns the address of the next `size` bytes, or NULL if fewer are left. */
static inline const uint8_t *bytes_get(struct bytes_reader *reader, size_t size)
{
    if (reader->failed || size > reader->size - reader->offset) {
        reader->failed = true;
        return NULL;
    }
    const uint8_t *place = reader->bytes + reader->offset;
    reader->offset += size;
    return place;
}

static inline uint32_t bytes_get_u32(struct bytes_reader *reader)
{
    const uint8_t *place = bytes_get(reader, 4);
    return place == NULL ? 0 : le_get_u32(place);
}

static inline uint64_t bytes_get_u64(struct bytes_reader *reader)
{
    const uint8_t *place = bytes_get(reader, 8);
    return place == NULL ? 0 : le_get_u64(place);
}

/* Reads a length (u64) into *size, then that many bytes, like bytes_get. */
static inline const uint8_t *bytes_get_framed(struct bytes_reader *reader, size_t *size)
{
    const uint64_t length = bytes_get_u64(reader);
    *size = 0;
    if (length > bytes_left(reader)) {
        reader->failed = true;
        return NULL;
    }
    *size = (size_t)length;
    return bytes_get(reader, (size_t)length);
}

#endif
