/*
 * bytes.h - serializes integers and byte strings for storage, and reads them back with bounds checks.
 *
 * Integers are little-endian. A variable-length item is preceded by its length. Structures are never written or cast as
 * a whole. The first read that would go past the end sets `failed` and returns 0 or NULL, as do all later reads, so
 * callers check `failed` once at the end.
 */
#ifndef INGOT_CORE_BASE_BYTES_H
#define INGOT_CORE_BASE_BYTES_H

#include <stdbool.h>

#include "core/base/alloc.h"
#include "util/little_endian.h"

struct bytes_writer {
    const ingot_allocator_t *allocator;
    uint8_t *bytes;
    size_t size;
    size_t capacity;
    bool failed; /* true if out of memory; later writes do nothing */
};

void bytes_writer_init(struct bytes_writer *writer, const ingot_allocator_t *allocator);
void bytes_writer_fini(struct bytes_writer *writer);
void bytes_put(struct bytes_writer *writer, size_t size, const void *bytes);
void bytes_put_u32(struct bytes_writer *writer, uint32_t value);
void bytes_put_u64(struct bytes_writer *writer, uint64_t value);
/* Appends the length as u64, then the bytes. */
void bytes_put_framed(struct bytes_writer *writer, size_t size, const void *bytes);
void bytes_put_text(struct bytes_writer *writer, const char *text); /* without its length or a NUL */
/* Appends `size` bytes for the caller to fill and returns their address, or NULL if out of memory. The address is
 * valid until the next write. */
void *bytes_reserve(struct bytes_writer *writer, size_t size);
/* Overwrites bytes that were written earlier, such as a length that was not known then. */
void bytes_patch_u64(struct bytes_writer *writer, size_t offset, uint64_t value);
/* Hands the bytes over to the caller and empties the writer. The memory is shrunk to *size, the size that alloc_free
 * needs. Returns NULL if out of memory. */
uint8_t *bytes_take(struct bytes_writer *writer, size_t *size);

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
