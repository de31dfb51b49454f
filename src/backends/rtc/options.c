/*
 * options.c - splits option strings into the words that the compilers take.
 *
 * Blanks end a word, unless a quote or a backslash protects them. The core splits options in the same way when it looks
 * for -I and -D.
 */
#include "backends/rtc/options.h"

#include <stdbool.h>
#include <string.h>

static bool is_white_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Copies one word to `out`, without its quotes and with a NUL, and advances both pointers. Returns false at the end of
 * the text. */
static bool next_word(const char **text, char **out)
{
    const char *from = *text;
    char *to = *out;
    char quote = '\0';
    while (is_white_space(*from))
        ++from;
    if (*from == '\0')
        return false;
    for (; *from != '\0' && (quote != '\0' || !is_white_space(*from)); ++from) {
        if (*from == '\\' && from[1] != '\0' && quote != '\'')
            *to++ = *++from;
        else if (quote != '\0' ? *from == quote : *from == '"' || *from == '\'')
            quote = quote != '\0' ? '\0' : *from;
        else
            *to++ = *from;
    }
    *to++ = '\0';
    *text = from;
    *out = to;
    return true;
}

static void split_words(struct rtc_options *options, const char *text, char **place)
{
    for (;;) {
        char *word = *place;
        if (!next_word(&text, place))
            return;
        if (*word != '\0') /* empty words are skipped, because the compilers refuse them */
            options->words[options->count++] = word;
    }
}

ingot_status_t rtc_options_init(struct rtc_options *options, const ingot_allocator_t *allocator, const char *first,
                                const char *second, size_t room)
{
    const size_t length = strlen(first) + strlen(second);
    char *place = NULL;
    memset(options, 0, sizeof(*options));
    options->capacity = length / 2 + 2 + room; /* a word and the blank after it have two characters or more */
    options->chars_size = length + 2;
    options->words = ingot_allocate(allocator, options->capacity * sizeof(*options->words));
    options->chars = ingot_allocate(allocator, options->chars_size);
    if (options->words == NULL || options->chars == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %zu bytes of options", length);
    place = options->chars;
    split_words(options, first, &place);
    split_words(options, second, &place);
    return INGOT_SUCCESS;
}

void rtc_options_fini(struct rtc_options *options, const ingot_allocator_t *allocator)
{
    ingot_deallocate(allocator, (void *)options->words, options->capacity * sizeof(*options->words));
    ingot_deallocate(allocator, options->chars, options->chars_size);
    memset(options, 0, sizeof(*options));
}

void rtc_options_add(struct rtc_options *options, const char *word)
{
    options->words[options->count++] = word;
}

/* True if the word at this position is the option. Its value follows a '=' or is the next word. */
static bool read_option(const struct rtc_options *options, size_t at, const char *name, const char **value,
                        size_t *word_count)
{
    const char *word = options->words[at];
    const size_t length = strlen(name);
    if (strncmp(word, name, length) != 0)
        return false;
    if (word[length] == '=') {
        *value = word + length + 1;
        *word_count = 1;
        return true;
    }
    if (word[length] != '\0' || at + 1 == options->count)
        return false;
    *value = options->words[at + 1];
    *word_count = 2;
    return true;
}

const char *rtc_options_take_architecture(struct rtc_options *options, const char *name, const char *short_name)
{
    const char *architecture = NULL;
    size_t kept = 0;
    size_t word_count = 0;
    for (size_t i = 0; i < options->count; i += word_count) {
        if (!read_option(options, i, name, &architecture, &word_count) &&
            !read_option(options, i, short_name, &architecture, &word_count)) {
            options->words[kept++] = options->words[i];
            word_count = 1;
        }
    }
    options->count = kept;
    return architecture;
}
