/*
 * environment.h - lists the names of the INGOT_* environment variables, and parses their values for all libraries.
 *
 * Words and suffixes may be in upper or lower case. An empty value counts as unset.
 */
#ifndef INGOT_UTIL_ENVIRONMENT_H
#define INGOT_UTIL_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/limit.h"
#include "util/quantity.h"

enum environment_kind {
    ENVIRONMENT_SWITCH, /* 0 or 1 */
    ENVIRONMENT_SIZE,   /* this and the next two are limits (util/limit.h): a number of bytes, or a count */
    ENVIRONMENT_TIME,   /* a time, stored in milliseconds; a number without a unit means milliseconds */
    ENVIRONMENT_DAYS    /* a time, stored in milliseconds; a number without a unit means days */
};

/* Returns all names, followed by NULL. doc/environment.md describes the same variables. */
static inline const char *const *environment_names(void)
{
    static const char *const names[] = {
        "INGOT_TRACE",
        "INGOT_METRICS_DIR",
        "INGOT_COMPILE_OPTIONS",
        "INGOT_LINK_OPTIONS",
        "INGOT_HEADER_MEMO",
        "INGOT_CACHE",
        "INGOT_CACHE_CAPACITY",
        "INGOT_CACHE_MAX_BYTES",
        "INGOT_CACHE_GROUPS",
        "INGOT_LAYER_DISABLE",
        "INGOT_LAYER_PATH",
        "INGOT_LAYER_PLATFORMS",
        "INGOT_LAYER_STATS",
        "INGOT_LEVEL_ZERO_DRIVER",
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
        "INGOT_PERSIST_STORE_MODE",
        "INGOT_PERSIST_LOCK_TIMEOUT",
        "INGOT_PERSIST_TRUST",
        "INGOT_PERSIST_KEYS",
        "INGOT_PERSIST_BUILD_WAIT",
        "INGOT_BUILD_JOBS",
        "INGOT_BUILDERS",
        "INGOT_ON_MISS",
        "INGOT_PERSIST_REQUESTS",
        "INGOT_RECORD",
        "INGOT_PERSIST_REMOTE",
        "INGOT_PERSIST_REMOTE_LEASES",
        "INGOT_PERSIST_REMOTE_MODE",
        "INGOT_PERSIST_REMOTE_MAX_AGE_DAYS",
        "INGOT_PYTHON",
        "INGOT_CACHE_LIBRARY",
        NULL,
    };
    return names;
}

/* Returns the value of a variable, or NULL if it is unset or empty. */
static inline const char *environment_value(const char *name)
{
    const char *value = secure_getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

/* Sets *chosen to the index of the text among `count` words. Returns false if it is not one of them. */
static inline bool environment_choose(const char *text, size_t count, const char *const *words, size_t *chosen)
{
    for (size_t i = 0; i < count; ++i) {
        if (text_is_word(text, words[i])) {
            *chosen = i;
            return true;
        }
    }
    return false;
}

/* Parses a value. Leaves *value unchanged if it returns false. */
static inline bool environment_parse(enum environment_kind kind, const char *text, uint64_t *value)
{
    static const char *const words[] = {"0", "1", "off", "on", "no", "yes", "false", "true"};
    static const struct quantity_unit times[] = {{"ms", 1},      {"s", 1000},     {"m", 60000},
                                                 {"h", 3600000}, {"d", 86400000}, {NULL, 0}};
    uint64_t number = 0;
    size_t chosen = 0;
    bool is_good = true;
    if (kind == ENVIRONMENT_SWITCH) {
        is_good = environment_choose(text, sizeof(words) / sizeof(words[0]), words, &chosen);
        number = chosen & 1;
    } else if (text_is_word(text, "unlimited")) {
        number = LIMIT_UNLIMITED;
    } else if (text_is_word(text, "none")) {
        number = LIMIT_NONE;
    } else {
        is_good =
            (kind == ENVIRONMENT_SIZE ? quantity_read_size(text, &number)
                                      : quantity_read(text, kind == ENVIRONMENT_DAYS ? 86400000 : 1, times, &number)) &&
            number < LIMIT_NONE;
    }
    if (is_good)
        *value = number;
    return is_good;
}

/* Returns what a value must be, for the sentence "NAME: "VALUE" is not ...". */
static inline const char *environment_expected(enum environment_kind kind)
{
    switch (kind) {
    case ENVIRONMENT_SWITCH: return "0, 1, off, on, no, yes, false or true";
    case ENVIRONMENT_SIZE: return "a number with an optional K, M, G or T suffix, unlimited or none, or is too large";
    case ENVIRONMENT_TIME:
        return "a number of milliseconds, one with an ms, s, m, h or d suffix, unlimited or none, or is too large";
    case ENVIRONMENT_DAYS:
        return "a number of days, one with an ms, s, m, h or d suffix, unlimited or none, or is too large";
    }
    return "a value";
}

/* Returns how many characters must be inserted, removed or changed to turn one name into the other. */
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

/* Returns the present name of a variable that had another name in 0.2, or NULL. */
static inline const char *environment_renamed(const char *name, size_t size)
{
    static const char before[] = "INGOT_PERSIST_RECORD";
    return size == sizeof(before) - 1 && memcmp(name, before, size) == 0 ? "INGOT_RECORD" : NULL;
}

/* Returns the known name that is most similar to `name`. Returns NULL if `name` is itself known, does not begin with
 * INGOT_, or begins with INGOT_TEST_, as names for tests do. */
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

/* ---- fields of structures, by a table ---- */

#define SETTING_MOST_WORDS 4u

/* An environment variable, and the field that it sets. */
struct setting {
    const char *name;
    enum environment_kind kind; /* unless there are words */
    size_t size;                /* of the field: 8 bytes for a limit, otherwise 4 */
    size_t offset;
    uint32_t flag;    /* if not 0, the bits that a switch, or the second of two words, sets, and its opposite clears */
    bool is_inverted; /* for a flag: clears and sets them */
    const char *words[SETTING_MOST_WORDS]; /* if any, the value is one of them, and the field gets its index */
    const char *expected;                  /* of words: a list of them for people */
    uint32_t strictest; /* if not 0, the index of the word that a wrong value stands for, so that nothing fails open */
};

/* Returns what a value must be, for the sentence "NAME: "VALUE" is not ...". */
static inline const char *setting_expected(const struct setting *setting)
{
    return setting->expected != NULL ? setting->expected : environment_expected(setting->kind);
}

/* Sets the field in `info`. Returns false, and leaves it unchanged, if the value is invalid. */
static inline bool setting_read(const struct setting *setting, const char *value, void *info)
{
    char *field = (char *)info + setting->offset;
    uint64_t number = 0;
    uint32_t narrow = 0;
    size_t count = 0;
    size_t chosen = 0;
    while (count < SETTING_MOST_WORDS && setting->words[count] != NULL)
        ++count;
    if (count != 0 ? !environment_choose(value, count, setting->words, &chosen)
                   : !environment_parse(setting->kind, value, &number))
        return false;
    if (count != 0)
        number = chosen;
    if (setting->size == sizeof(number)) { /* 0 stands for the default, also for the application's */
        if (number != 0)
            memcpy(field, &number, sizeof(number));
        return true;
    }
    if (setting->flag != 0) {
        memcpy(&narrow, field, sizeof(narrow));
        narrow = (number != 0) != setting->is_inverted ? narrow | setting->flag : narrow & ~setting->flag;
    } else {
        narrow = (uint32_t)number; /* the index of a word */
    }
    memcpy(field, &narrow, sizeof(narrow));
    return true;
}

#endif
