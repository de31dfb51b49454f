/*
 * error_text.h - copies an error message into a buffer of fixed size.
 */
#ifndef INGOT_UTIL_ERROR_TEXT_H
#define INGOT_UTIL_ERROR_TEXT_H

#include <stddef.h>
#include <string.h>

/* The size of a buffer that holds any error message, with its NUL. */
#define ERROR_TEXT_CAPACITY 8192u

/* Copies as much of a text as fits, and a NUL. `capacity` must not be 0. */
static inline void error_text_copy(char *copy, size_t capacity, const char *text)
{
    const size_t text_length = strlen(text);
    const size_t length = text_length < capacity ? text_length : capacity - 1;
    memcpy(copy, text, length);
    copy[length] = '\0';
}

#endif
