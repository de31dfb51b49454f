/*
 * build_log.c - what the compilers said.
 */
#include "backends/cuda/compiler/build_log.h"

#include <stdarg.h>
#include <stdio.h>

#define MAX_MESSAGE 512u

ingot_status_t cuda_refuse_program(ingot_sink_t *log, const char *format, ...)
{
    char message[MAX_MESSAGE] = "";
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    const ingot_status_t status = ingot_sink_write_log(log, message);
    return status == INGOT_SUCCESS ? ingot_set_error_detail(INGOT_BUILD_FAILED, "%s", message) : status;
}
