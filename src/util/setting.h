/*
 * setting.h - sets a field of a structure, or one flag of it, from the value of an environment variable, by a table.
 */
#ifndef INGOT_UTIL_SETTING_H
#define INGOT_UTIL_SETTING_H

#include "util/environment.h"

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
};

/* Returns what a value must be, for the sentence "NAME: "VALUE" is not ...". */
static inline const char *setting_expected(const struct setting *setting)
{
    return setting->expected != NULL ? setting->expected : environment_expected(setting->kind);
}

static inline bool setting_parse(const struct setting *setting, const char *value, uint64_t *number)
{
    size_t count = 0;
    size_t chosen = 0;
    while (count < SETTING_MOST_WORDS && setting->words[count] != NULL)
        ++count;
    if (count == 0)
        return environment_parse(setting->kind, value, number);
    const bool is_word = environment_choose(value, count, setting->words, &chosen);
    *number = chosen;
    return is_word;
}

/* Sets the field in `info`. Returns false, and leaves it unchanged, if the value is invalid. */
static inline bool setting_read(const struct setting *setting, const char *value, void *info)
{
    char *field = (char *)info + setting->offset;
    uint64_t number = 0;
    uint32_t narrow = 0;
    if (!setting_parse(setting, value, &number))
        return false;
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
