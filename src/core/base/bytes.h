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

void bytes_reader_init(struct bytes_reader *reader, size_t size, const uint8_t *bytes);
size_t bytes_left(const struct bytes_reader *reader);
uint32_t bytes_get_u32(struct bytes_reader *reader);
uint64_t bytes_get_u64(struct bytes_reader *reader);
/* Return pointers into the reader's bytes, or NULL if there are too few. */
const uint8_t *bytes_get(struct bytes_reader *reader, size_t size);
const uint8_t *bytes_get_framed(struct bytes_reader *reader, size_t *size);

/* Implements the size protocol of the public interface: copies size bytes, or only sets *out_size. */
ingot_status_t bytes_copy_out(size_t size, const void *bytes, size_t *out_size, void *out);

#endif
