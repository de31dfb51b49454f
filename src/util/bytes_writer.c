/*
 * bytes_writer.c - an array of bytes that grows; see bytes_writer.h.
 */
#include "util/bytes_writer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/little_endian.h"
#include "util/memory.h"

void bytes_writer_init(struct bytes_writer *writer, const ingot_allocator_t *allocator)
{
    memset(writer, 0, sizeof(*writer));
    writer->allocator = allocator;
}

void bytes_writer_fini(struct bytes_writer *writer)
{
    memory_free(writer->allocator, writer->bytes, writer->capacity);
    bytes_writer_init(writer, writer->allocator);
}

static bool resize_buffer(struct bytes_writer *writer, size_t capacity)
{
    uint8_t *bytes = memory_allocate(writer->allocator, capacity);
    if (bytes == NULL) {
        writer->failed = true;
        return false;
    }
    if (writer->size != 0)
        memcpy(bytes, writer->bytes, writer->size);
    memory_free(writer->allocator, writer->bytes, writer->capacity);
    writer->bytes = bytes;
    writer->capacity = capacity;
    return true;
}

void *bytes_reserve(struct bytes_writer *writer, size_t size)
{
    if (writer->failed)
        return NULL;
    if (size > SIZE_MAX / 2 - writer->size) {
        writer->failed = true;
        return NULL;
    }
    const size_t needed = writer->size + size;
    if (needed > writer->capacity || writer->bytes == NULL) {
        const size_t doubled = writer->capacity < 64 ? 128 : writer->capacity * 2;
        if (!resize_buffer(writer, needed > doubled ? needed : doubled))
            return NULL;
    }
    void *place = writer->bytes + writer->size;
    writer->size = needed;
    return place;
}

void bytes_put(struct bytes_writer *writer, size_t size, const void *bytes)
{
    void *place = bytes_reserve(writer, size);
    if (place != NULL && size != 0)
        memcpy(place, bytes, size);
}

void bytes_put_u32(struct bytes_writer *writer, uint32_t value)
{
    uint8_t *place = bytes_reserve(writer, 4);
    if (place != NULL)
        le_put_u32(place, value);
}

void bytes_put_u64(struct bytes_writer *writer, uint64_t value)
{
    uint8_t *place = bytes_reserve(writer, 8);
    if (place != NULL)
        le_put_u64(place, value);
}

void bytes_put_framed(struct bytes_writer *writer, size_t size, const void *bytes)
{
    bytes_put_u64(writer, size);
    bytes_put(writer, size, bytes);
}

void bytes_put_framed_text(struct bytes_writer *writer, const char *text)
{
    bytes_put_framed(writer, strlen(text), text);
}

void bytes_put_text(struct bytes_writer *writer, const char *text)
{
    bytes_put(writer, strlen(text), text);
}

void bytes_print(struct bytes_writer *writer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *place = bytes_reserve(writer, length >= 0 ? (size_t)length + 1 : SIZE_MAX);
    va_start(arguments, format);
    if (place != NULL) {
        (void)vsnprintf(place, (size_t)length + 1, format, arguments);
        --writer->size; /* without the NUL */
    }
    va_end(arguments);
}

void bytes_patch_u64(struct bytes_writer *writer, size_t offset, uint64_t value)
{
    if (!writer->failed)
        le_put_u64(writer->bytes + offset, value);
}

uint8_t *bytes_take(struct bytes_writer *writer, size_t *size)
{
    if (writer->failed || !resize_buffer(writer, writer->size)) {
        bytes_writer_fini(writer);
        return NULL;
    }
    uint8_t *bytes = writer->bytes;
    *size = writer->size;
    bytes_writer_init(writer, writer->allocator);
    return bytes;
}

char *bytes_take_text(struct bytes_writer *writer)
{
    size_t size = 0;
    bytes_put(writer, 1, "");
    return (char *)bytes_take(writer, &size);
}
