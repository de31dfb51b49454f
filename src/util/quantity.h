/*
 * quantity.h - parses numbers and sizes, in the same way for environment variables and for the tool's arguments.
 *
 * Units may be in upper or lower case. The locale does not matter.
 */
#ifndef INGOT_UTIL_QUANTITY_H
#define INGOT_UTIL_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

static inline char text_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* True if the text is the word, in upper or lower case. `word` itself must be in lower case. */
static inline bool text_is_word(const char *text, const char *word)
{
    while (*text != '\0' && text_lower(*text) == *word) {
        ++text;
        ++word;
    }
    return *text == '\0' && *word == '\0';
}

struct quantity_unit {
    const char *name; /* NULL at the end of the list */
    uint64_t factor;
};

/* Parses digits and a unit. Without a unit, the factor is `plain`; if that is 0, the unit is required. Returns false
 * and leaves *value unchanged for any other text, and for a value that is too large. */
static inline bool quantity_read(const char *text, uint64_t plain, const struct quantity_unit *units, uint64_t *value)
{
    uint64_t number;
    size_t digits;
    if (!digits_read(strlen(text), text, UINT64_MAX, &number, &digits))
        return false;
    uint64_t factor = text[digits] == '\0' ? plain : 0;
    for (; text[digits] != '\0' && factor == 0 && units->name != NULL; ++units)
        factor = text_is_word(text + digits, units->name) ? units->factor : 0;
    if (factor == 0 || number > UINT64_MAX / factor)
        return false;
    *value = number * factor;
    return true;
}

/* Parses a number without a unit. */
static inline bool quantity_read_count(const char *text, uint64_t *count)
{
    static const struct quantity_unit none = {NULL, 0};
    return quantity_read(text, 1, &none, count);
}

/* Parses a size in bytes, such as "1048576", "512M" or "2GiB". */
static inline bool quantity_read_size(const char *text, uint64_t *bytes)
{
    static const struct quantity_unit units[] = {
        {"b", 1},
        {"k", UINT64_C(1) << 10},
        {"kib", UINT64_C(1) << 10},
        {"m", UINT64_C(1) << 20},
        {"mib", UINT64_C(1) << 20},
        {"g", UINT64_C(1) << 30},
        {"gib", UINT64_C(1) << 30},
        {"t", UINT64_C(1) << 40},
        {"tib", UINT64_C(1) << 40},
        {NULL, 0},
    };
    return quantity_read(text, 1, units, bytes);
}

#endif
