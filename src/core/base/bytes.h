/*
 * bytes.h - writes bytes to store, and reads stored bytes with checks.
 *
 * Integers are little-endian and lengths come first; no structure is written or cast. A reader never reads past its
 * end: the first read that would do so sets `failed` and returns zeros. All later reads do the same, so callers check
 * once at the end.
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
void bytes_put_text(struct bytes_writer *writer, const char *text); /* raw, without NUL */
/* Returns size more bytes for the caller to fill, or NULL; valid until the next write. */
void *bytes_reserve(struct bytes_writer *writer, size_t size);
/* Overwrites earlier bytes, such as a length that is known only later. */
void bytes_patch_u64(struct bytes_writer *writer, size_t offset, uint64_t value);
/* Returns the memory, shrunk to *size so that alloc_free accepts it, or NULL if out of memory. Empties the writer. */
uint8_t *bytes_take(struct bytes_writer *writer, size_t *size);

struct bytes_reader {
    const uint8_t *bytes;
    size_t size;
    size_t offset;
    bool failed;
};

/* Inline, because each load of a small program reads a dozen fields. */
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

/* Returns a pointer into the reader's bytes, or NULL if there are too few. */
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

/* Like bytes_get, with the length read first, as u64. */
const uint8_t *bytes_get_framed(struct bytes_reader *reader, size_t *size);

/* Implements the size protocol of the public interface: copies size bytes, or only sets *out_size. */
ingot_status_t bytes_copy_out(size_t size, const void *bytes, size_t *out_size, void *out);

#endif
