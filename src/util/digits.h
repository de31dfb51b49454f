/*
 * digits.h - reads decimal numbers in texts.
 */
#ifndef INGOT_UTIL_DIGITS_H
#define INGOT_UTIL_DIGITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIGITS_MAX 20 /* the number of digits of the largest 64-bit number */

/* Reads the number at the beginning of a text of `size` bytes, and sets *count to its number of digits. Returns false
 * if the text does not begin with a digit, or if the number is larger than `max`. */
static inline bool digits_read(size_t size, const char *text, uint64_t max, uint64_t *number, size_t *count)
{
    uint64_t value = 0;
    size_t at = 0;
    for (; at < size && text[at] >= '0' && text[at] <= '9'; ++at) {
        const uint64_t digit = (uint64_t)(text[at] - '0');
        if (digit > max || value > (max - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *number = value;
    *count = at;
    return at != 0;
}

#endif
