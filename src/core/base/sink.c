/*
 * sink.c - implements the functions with which backends write binaries and build logs.
 */
#include "core/base/sink.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"

#define MAX_REFUSAL 512u

ingot_status_t ingot_sink_write(ingot_sink_t *sink, size_t size, const void *bytes)
{
    if (sink == NULL || (bytes == NULL && size != 0))
        return error_null_argument(sink == NULL ? "sink" : "bytes");
    bytes_put(&sink->writer, size, bytes);
    return sink->writer.failed ? error_out_of_memory() : INGOT_SUCCESS;
}

ingot_status_t ingot_sink_reserve(ingot_sink_t *sink, size_t size, void **bytes)
{
    void *place = bytes_reserve(&sink->writer, size);
    if (place == NULL)
        return error_out_of_memory();
    *bytes = place;
    return INGOT_SUCCESS;
}

ingot_status_t ingot_sink_write_log(ingot_sink_t *sink, const char *text)
{
    if (sink == NULL || text == NULL)
        return error_null_argument(sink == NULL ? "sink" : "text");
    const size_t length = strlen(text);
    const struct bytes_writer *log = &sink->writer;
    if (length > 0 && log->size > 0 && log->bytes[log->size - 1] != '\n')
        (void)ingot_sink_write(sink, 1, "\n"); /* if this fails, the next write fails, too */
    return ingot_sink_write(sink, length, text);
}

ingot_status_t ingot_refuse_program(ingot_sink_t *log, int64_t code, const char *format, ...)
{
    char message[MAX_REFUSAL] = "";
    va_list arguments;
    if (log == NULL || format == NULL)
        return error_null_argument(log == NULL ? "log" : "format");
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    ingot_status_t status = ingot_sink_write_log(log, message);
    if (status == INGOT_SUCCESS)
        status = ingot_sink_write(log, 1, "\n");
    return status == INGOT_SUCCESS ? ingot_set_error(INGOT_BUILD_FAILED, code, "%s", message) : status;
}
