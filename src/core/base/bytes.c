/*
 * bytes.c - reads byte strings back, and copies bytes to callers; see bytes.h.
 */
#include "core/base/bytes.h"

#include <string.h>

#include "core/base/error.h"

const uint8_t *bytes_get_framed(struct bytes_reader *reader, size_t *size)
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

ingot_status_t bytes_copy_out(size_t size, const void *bytes, size_t *out_size, void *out)
{
    const size_t capacity = *out_size;
    *out_size = size;
    if (out == NULL)
        return INGOT_SUCCESS;
    if (capacity < size)
        return error_set(INGOT_BUFFER_TOO_SMALL, "%zu bytes are needed, but the buffer has room for only %zu", size,
                         capacity);
    if (size != 0)
        memcpy(out, bytes, size);
    return INGOT_SUCCESS;
}
