/*
 * bytes.h - reads integers and byte strings that a bytes_writer wrote, with bounds checks.
 *
 * A variable-length item is preceded by its length. Structures are never written or cast as a whole. The first read
 * that would go past the end sets `failed` and returns 0 or NULL, as do all later reads, so callers check `failed` once
 * at the end.
 */
#ifndef INGOT_CORE_BASE_BYTES_H
#define INGOT_CORE_BASE_BYTES_H

#include <stdbool.h>

#include "core/base/alloc.h"
#include "util/bytes_writer.h"
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
const uint8_t *bytes_get_framed(struct bytes_reader *reader, size_t *size);

/* Implements the public interface's convention for returning bytes. Sets *out_size to size. Copies the bytes unless
 * `out` is NULL. Returns INGOT_BUFFER_TOO_SMALL if the caller's *out_size was smaller than size. */
ingot_status_t bytes_copy_out(size_t size, const void *bytes, size_t *out_size, void *out);

#endif
