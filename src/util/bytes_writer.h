/*
 * bytes_writer.h - an array of bytes that grows: for serialized numbers and byte strings, and for arrays of structures.
 *
 * Integers are little-endian. If memory runs out, a write sets `failed`, and later ones do nothing, so callers check
 * once at the end.
 */
#ifndef INGOT_UTIL_BYTES_WRITER_H
#define INGOT_UTIL_BYTES_WRITER_H

#include <ingot/ingot.h>
#include <stdbool.h>

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
void bytes_put_framed_text(struct bytes_writer *writer, const char *text); /* without a NUL */
void bytes_put_text(struct bytes_writer *writer, const char *text);        /* without its length or a NUL */
/* Appends what printf would print. */
__attribute__((format(printf, 2, 3))) void bytes_print(struct bytes_writer *writer, const char *format, ...);
/* Appends `size` bytes for the caller to fill and returns their address, or NULL if out of memory. The address is
 * valid until the next write. */
void *bytes_reserve(struct bytes_writer *writer, size_t size);
/* Overwrites bytes that were written earlier, such as a length that was not known then. */
void bytes_patch_u64(struct bytes_writer *writer, size_t offset, uint64_t value);
/* Hands the bytes over to the caller and empties the writer. The memory is shrunk to *size bytes, or to 1 byte if *size
 * is 0. Returns NULL if out of memory. */
uint8_t *bytes_take(struct bytes_writer *writer, size_t *size);
/* Hands the bytes, which have no NUL, over as a text, which memory_free_text frees. Returns NULL if out of memory. */
char *bytes_take_text(struct bytes_writer *writer);

#endif
