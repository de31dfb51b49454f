/*
 * value.c - reads words, numbers, sizes and times; see value.h.
 *
 * The number 0 stands for the default everywhere. "unlimited" and "none" are words, for the options that list them.
 */
#include "cli/usage/value.h"

#include <stdio.h>
#include <string.h>

#include "util/quantity.h"

enum { WORD_SIZE = 24 };

bool value_get_word(const char *words, size_t index, size_t capacity, char *word)
{
    for (; words != NULL && index != 0; --index) {
        words = strchr(words, ' ');
        words = words != NULL ? words + 1 : NULL;
    }
    if (words == NULL)
        return false;
    (void)snprintf(word, capacity, "%.*s", (int)strcspn(words, " "), words);
    return true;
}

/* Returns the word's position in the list, from 1, or 0 if it is not in it. */
static unsigned find_word(const char *words, const char *text)
{
    char word[WORD_SIZE];
    for (unsigned i = 0; value_get_word(words, i, sizeof(word), word); ++i) {
        if (text_is_word(text, word))
            return i + 1;
    }
    return 0;
}

static bool read_time(const char *text, uint64_t *ns)
{
    static const struct quantity_unit units[] = {{"ms", 1000000},
                                                 {"s", 1000000000},
                                                 {"m", 60 * UINT64_C(1000000000)},
                                                 {"h", 3600 * UINT64_C(1000000000)},
                                                 {"d", 86400 * UINT64_C(1000000000)},
                                                 {"w", 7 * 86400 * UINT64_C(1000000000)},
                                                 {NULL, 0}};
    return quantity_read(text, 0, units, ns);
}

static bool read_quantity(const struct command_option *option, const char *text, uint64_t *value)
{
    *value = 0;
    if (find_word(option->words, text) != 0)
        *value = text_is_word(text, "none") ? QUANTITY_NONE : QUANTITY_UNLIMITED;
    if (*value != 0 || strcmp(text, "0") == 0)
        return true;
    if (option->kind == VALUE_SIZE)
        return quantity_read_size(text, value) && *value < QUANTITY_NONE;
    if (option->kind == VALUE_COUNT)
        return quantity_read_count(text, value) && *value < QUANTITY_NONE;
    return read_time(text, value);
}

bool value_read(const struct command_option *option, const char *text, void *member)
{
    uint64_t quantity;
    if (option->kind == VALUE_WORD) {
        const unsigned position = find_word(option->words, text);
        memcpy(member, &position, sizeof(position));
        return position != 0;
    }
    if (!read_quantity(option, text, &quantity))
        return false;
    memcpy(member, &quantity, sizeof(quantity));
    return true;
}

const char *value_expected(const struct command_option *option, char text[VALUE_EXPECTED_SIZE])
{
    static const char *const kinds[] = {
        [VALUE_WORD] = "",
        [VALUE_COUNT] = "a number",
        [VALUE_SIZE] = "a number of bytes with an optional K, M, G or T",
        [VALUE_TIME] = "a number with ms, s, m, h, d or w",
    };
    char word[WORD_SIZE];
    char next[WORD_SIZE];
    size_t length = (size_t)snprintf(text, VALUE_EXPECTED_SIZE, "%s", kinds[option->kind]);
    for (size_t i = 0; value_get_word(option->words, i, sizeof(word), word); ++i) {
        const bool is_last = !value_get_word(option->words, i + 1, sizeof(next), next);
        const char *separator = length == 0 ? "" : !is_last ? ", " : i == 0 ? ", or " : " or ";
        const size_t room = length < VALUE_EXPECTED_SIZE ? VALUE_EXPECTED_SIZE - length : 0;
        length += (size_t)snprintf(text + length, room, "%s%s", separator, word);
    }
    return text;
}
