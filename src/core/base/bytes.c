/*
 * bytes.c - copies bytes to callers; see bytes.h.
 */
#include "core/base/bytes.h"

#include <string.h>

#include "core/base/error.h"

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
