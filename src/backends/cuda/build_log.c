/*
 * build_log.c - what the compilers said.
 */
#include "backends/cuda/build_log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MAX_MESSAGE 512u

ingot_status_t cuda_write_log(const char *text, ingot_sink_t *log)
{
    ingot_status_t status = INGOT_SUCCESS;
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == '\n')
        --length;
    if (length == 0)
        return INGOT_SUCCESS;
    status = ingot_sink_write(log, length, text);
    return status == INGOT_SUCCESS ? ingot_sink_write(log, 1, "\n") : status;
}

ingot_status_t cuda_refuse_program(ingot_sink_t *log, const char *format, ...)
{
    char message[MAX_MESSAGE] = "";
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    const ingot_status_t status = cuda_write_log(message, log);
    return status == INGOT_SUCCESS ? ingot_set_error_detail(INGOT_BUILD_FAILED, "%s", message) : status;
}
