/*
 * error.c - the calling thread's sentence about its last failure; see error.h.
 */
#include "core/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/os.h"

static _Thread_local bool has_failed;

const char *ingot_last_error_detail(void)
{
    if (!has_failed)
        return "";
    const char *detail = os_thread_buffer(ERROR_DETAIL_CAPACITY);
    return detail != NULL ? detail : "out of memory for the failure's detail";
}

/* At most the capacity, with its end. */
static void set_detail(const char *text)
{
    char *detail = os_thread_buffer(ERROR_DETAIL_CAPACITY);

    has_failed = true;
    if (detail != NULL)
        memcpy(detail, text, strlen(text) + 1);
}

ingot_status_t ingot_set_error_detail(ingot_status_t status, const char *format, ...)
{
    static const char cut[] = " [...]";
    char text[ERROR_DETAIL_CAPACITY]; /* an argument may be the present sentence */
    va_list arguments;

    va_start(arguments, format);
    const int length = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (length < 0)
        text[0] = '\0';
    else if ((size_t)length >= sizeof(text))
        memcpy(text + sizeof(text) - sizeof(cut), cut, sizeof(cut));
    set_detail(text);
    return status;
}

void error_save(struct error_detail *saved)
{
    const char *detail = ingot_last_error_detail();
    memcpy(saved->text, detail, strlen(detail) + 1);
}

void error_restore(const struct error_detail *saved)
{
    if (has_failed)
        set_detail(saved->text);
}

ingot_status_t error_null_argument(const char *name)
{
    return error_set(INGOT_INVALID_ARGUMENTS, "%s is NULL", name);
}

ingot_status_t error_out_of_memory(void)
{
    return error_set(INGOT_OUT_OF_MEMORY, "out of memory");
}
