/*
 * environment.h - names of the INGOT_* variables, and the one parser of their values for all libraries.
 *
 * Words and suffixes may be in either case. An empty value counts as unset. Callers read the environment, with
 * secure_getenv.
 */
#ifndef INGOT_UTIL_ENVIRONMENT_H
#define INGOT_UTIL_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum environment_kind {
    ENVIRONMENT_SWITCH, /* 0 or 1 */
    ENVIRONMENT_SIZE,   /* bytes, or a count */
    ENVIRONMENT_TIME,   /* milliseconds; a number without a unit is in milliseconds */
    ENVIRONMENT_DAYS    /* milliseconds; a number without a unit is in days */
};

/* Returns all names, and NULL at the end. doc/environment.md has the same list. */
static inline const char *const *environment_names(void)
{
    static const char *const names[] = {
        "INGOT_TRACE",
        "INGOT_COMPILE_OPTIONS",
        "INGOT_LINK_OPTIONS",
        "INGOT_CACHE",
        "INGOT_CACHE_CAPACITY",
        "INGOT_CACHE_MAX_BYTES",
        "INGOT_CACHE_GROUPS",
        "INGOT_PERSIST",
        "INGOT_PERSIST_DIR",
        "INGOT_PERSIST_NAMESPACE",
        "INGOT_PERSIST_MAX_SIZE",
        "INGOT_PERSIST_MAX_ENTRIES",
        "INGOT_PERSIST_MAX_AGE_DAYS",
        "INGOT_PERSIST_MIN_BLOB",
        "INGOT_PERSIST_MAX_BLOB",
        "INGOT_PERSIST_EVICTION",
        "INGOT_PERSIST_READ_ONLY",
        "INGOT_PERSIST_DURABLE",
        "INGOT_PERSIST_STORE_MODE",
        "INGOT_PERSIST_BACKENDS",
        "INGOT_PERSIST_EXIT_TIME",
        "INGOT_PERSIST_QUIET_TIME",
        "INGOT_PERSIST_LOCK_TIMEOUT",
        NULL,
    };
    return names;
}

static inline char environment_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Independent of the locale. */
static inline bool environment_is_word(const char *text, const char *word)
{
    while (*text != '\0' && environment_lower(*text) == *word) {
        ++text;
        ++word;
    }
    return *text == '\0' && *word == '\0';
}

/* Finds which of count words the text is. */
static inline bool environment_choose(const char *text, size_t count, const char *const *words, size_t *chosen)
{
    for (size_t i = 0; i < count; ++i) {
        if (environment_is_word(text, words[i])) {
            *chosen = i;
            return true;
        }
    }
    return false;
}

/* Sets *rest to the end of the digits. */
static inline bool environment_read_digits(const char *text, uint64_t *number, const char **rest)
{
    uint64_t value = 0;
    const char *c = text;
    for (; *c >= '0' && *c <= '9'; ++c) {
        const uint64_t digit = (uint64_t)(*c - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *number = value;
    *rest = c;
    return c != text;
}

static inline bool environment_read_switch(const char *text, uint64_t *value)
{
    static const char *const words[] = {"0", "1", "off", "on", "no", "yes", "false", "true"};
    size_t chosen = 0;
    if (!environment_choose(text, sizeof(words) / sizeof(words[0]), words, &chosen))
        return false;
    *value = chosen & 1;
    return true;
}

/* Multiplies the number by its suffix's factor, or by none if there is no suffix. */
static inline bool environment_read_with_unit(const char *text, size_t count, const char *const *suffixes,
                                              const uint64_t *factors, uint64_t none, uint64_t *value)
{
    const char *rest = text;
    uint64_t number = 0;
    uint64_t factor = none;
    size_t chosen = 0;
    if (!environment_read_digits(text, &number, &rest))
        return false;
    if (*rest != '\0') {
        if (!environment_choose(rest, count, suffixes, &chosen))
            return false;
        factor = factors[chosen];
    }
    if (number > UINT64_MAX / factor)
        return false;
    *value = number * factor;
    return true;
}

/* Leaves *value untouched if it returns false. */
static inline bool environment_parse(enum environment_kind kind, const char *text, uint64_t *value)
{
    static const char *const sizes[] = {"k", "m", "g", "t"};
    static const uint64_t bytes[] = {UINT64_C(1) << 10, UINT64_C(1) << 20, UINT64_C(1) << 30, UINT64_C(1) << 40};
    static const char *const times[] = {"ms", "s", "m", "h", "d"};
    static const uint64_t milliseconds[] = {1, 1000, 60000, 3600000, 86400000};
    switch (kind) {
    case ENVIRONMENT_SWITCH: return environment_read_switch(text, value);
    case ENVIRONMENT_SIZE: return environment_read_with_unit(text, 4, sizes, bytes, 1, value);
    case ENVIRONMENT_TIME: return environment_read_with_unit(text, 5, times, milliseconds, 1, value);
    case ENVIRONMENT_DAYS: return environment_read_with_unit(text, 5, times, milliseconds, milliseconds[4], value);
    }
    return false;
}

/* For a sentence: "NAME: "VALUE" is not ...". */
static inline const char *environment_expected(enum environment_kind kind)
{
    switch (kind) {
    case ENVIRONMENT_SWITCH: return "0, 1, off, on, no, yes, false or true";
    case ENVIRONMENT_SIZE: return "a number with an optional K, M, G or T suffix, or is too large";
    case ENVIRONMENT_TIME: return "a number of milliseconds, or one with an ms, s, m, h or d suffix, or is too large";
    case ENVIRONMENT_DAYS: return "a number of days, or one with an ms, s, m, h or d suffix, or is too large";
    }
    return "a value";
}

/* Returns how many letters must be inserted, removed or changed to turn one name into the other. */
static inline size_t environment_distance(const char *a, size_t a_size, const char *b)
{
    size_t row[64];
    const size_t b_size = strlen(b);
    if (b_size + 1 > sizeof(row) / sizeof(row[0]))
        return SIZE_MAX;
    for (size_t j = 0; j <= b_size; ++j)
        row[j] = j;
    for (size_t i = 1; i <= a_size; ++i) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_size; ++j) {
            const size_t changed = diagonal + (a[i - 1] != b[j - 1]);
            const size_t shorter = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = changed < shorter ? changed : shorter;
        }
    }
    return row[b_size];
}

/* Returns NULL if the name is known or is not Ingot's (tests use INGOT_TEST_...). */
static inline const char *environment_nearest(const char *name, size_t size)
{
    const char *nearest = NULL;
    size_t least = SIZE_MAX;
    if (strncmp(name, "INGOT_", 6) != 0 || strncmp(name, "INGOT_TEST_", 11) == 0)
        return NULL;
    for (const char *const *known = environment_names(); *known != NULL; ++known) {
        const size_t distance = environment_distance(name, size, *known);
        if (distance == 0)
            return NULL;
        if (distance < least) {
            least = distance;
            nearest = *known;
        }
    }
    return nearest;
}

#endif
