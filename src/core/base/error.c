/*
 * error.c - keeps the error message of each thread's last failure; see error.h.
 */
#include "core/base/error.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local bool has_failed;
static _Thread_local int64_t last_code;
static pthread_key_t detail_key;
static bool has_detail_key;

static void make_detail_key(void)
{
    has_detail_key = pthread_key_create(&detail_key, free) == 0;
}

/* Returns the thread's buffer for error messages, or NULL if out of memory. The C library frees it when the thread
 * ends, even if Ingot has been unloaded by then. */
static char *detail_buffer(void)
{
    static pthread_once_t prepared = PTHREAD_ONCE_INIT;

    pthread_once(&prepared, make_detail_key);
    if (!has_detail_key)
        return NULL;
    char *buffer = pthread_getspecific(detail_key);
    if (buffer != NULL)
        return buffer;
    buffer = calloc(1, ERROR_DETAIL_CAPACITY);
    if (buffer != NULL && pthread_setspecific(detail_key, buffer) != 0) {
        free(buffer);
        return NULL;
    }
    return buffer;
}

const char *ingot_last_error_detail(void)
{
    if (!has_failed)
        return "";
    const char *detail = detail_buffer();
    return detail != NULL ? detail : "out of memory while recording why a call failed";
}

/* Stores the error message, which must fit in the buffer with its NUL. */
static void set_detail(const char *text)
{
    char *detail = detail_buffer();

    has_failed = true;
    if (detail != NULL)
        memcpy(detail, text, strlen(text) + 1);
}

int64_t ingot_last_error_code(void)
{
    return has_failed ? last_code : 0;
}

static void set_formatted(int64_t code, const char *format, va_list arguments)
{
    static const char cut[] = " [...]";
    char text[ERROR_DETAIL_CAPACITY]; /* separate, because an argument may point into the thread's buffer */

    const int length = vsnprintf(text, sizeof(text), format, arguments);
    if (length < 0)
        text[0] = '\0';
    else if ((size_t)length >= sizeof(text))
        memcpy(text + sizeof(text) - sizeof(cut), cut, sizeof(cut));
    set_detail(text);
    last_code = code;
}

ingot_status_t ingot_set_error(ingot_status_t status, int64_t code, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    set_formatted(code, format, arguments);
    va_end(arguments);
    return status;
}

ingot_status_t ingot_set_error_detail(ingot_status_t status, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    set_formatted(0, format, arguments);
    va_end(arguments);
    return status;
}

void error_save(struct error_detail *saved)
{
    saved->has_failed = has_failed;
    saved->code = last_code;
    const char *detail = ingot_last_error_detail();
    memcpy(saved->text, detail, strlen(detail) + 1);
}

void error_restore(const struct error_detail *saved)
{
    if (saved->has_failed)
        set_detail(saved->text);
    has_failed = saved->has_failed;
    last_code = saved->code;
}

/* Not inlined into error_keep, so that threads without an error message need no stack space for a copy of it. */
__attribute__((noinline)) static void keep_sentence(void (*action)(void *a, void *b), void *a, void *b)
{
    struct error_detail kept;

    error_save(&kept);
    action(a, b);
    error_restore(&kept);
}

void error_keep(void (*action)(void *a, void *b), void *a, void *b)
{
    if (has_failed) {
        keep_sentence(action, a, b);
    } else {
        action(a, b);
        has_failed = false;
    }
}

ingot_status_t error_null_argument(const char *name)
{
    return error_set(INGOT_INVALID_ARGUMENTS, "%s is NULL", name);
}

ingot_status_t error_out_of_memory(void)
{
    return error_set(INGOT_OUT_OF_MEMORY, "out of memory");
}
