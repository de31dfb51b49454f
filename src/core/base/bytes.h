/*
 * bytes.h - hands bytes over to callers, and sorts texts.
 */
#ifndef INGOT_CORE_BASE_BYTES_H
#define INGOT_CORE_BASE_BYTES_H

#include <ingot/storage.h>

#include "util/bytes_reader.h"
#include "util/bytes_writer.h"
#include "util/memory.h"

/* Implements the public interface's convention for returning bytes. Sets *out_size to size. Copies the bytes unless
 * `out` is NULL. Returns INGOT_BUFFER_TOO_SMALL if the caller's *out_size was smaller than size. */
ingot_status_t bytes_copy_out(size_t size, const void *bytes, size_t *out_size, void *out);

/* Hands the bytes of a writer, which has the C library's allocator, over to the caller. */
void bytes_take_buffer(struct bytes_writer *writer, ingot_buffer_t *buffer);

/* Sorts texts by their bytes. */
void texts_sort(size_t count, const char **texts);

#endif
