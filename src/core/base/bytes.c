/*
 * bytes.c - hands bytes over to callers, and sorts texts; see bytes.h.
 */
#include "core/base/bytes.h"

#include <stdlib.h>
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

static void free_buffer(ingot_buffer_t *buffer)
{
    free(buffer->owner);
    *buffer = (ingot_buffer_t)INGOT_BUFFER_INIT;
}

void bytes_take_buffer(struct bytes_writer *writer, ingot_buffer_t *buffer)
{
    *buffer = (ingot_buffer_t){writer->size, writer->bytes, free_buffer, writer->bytes};
    bytes_writer_init(writer, writer->allocator);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void texts_sort(size_t count, const char **texts)
{
    if (count > 1)
        qsort(texts, count, sizeof(*texts), compare_texts);
}
