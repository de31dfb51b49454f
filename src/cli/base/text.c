/*
 * text.c - allocations that end the process on failure, and text from a store; see base.h.
 */
#include "cli/base/base.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char blanks[] = " \t\r\n";

static void *require_memory(void *memory)
{
    if (memory == NULL) {
        (void)fputs("ingot: out of memory\n", stderr);
        exit(EXIT_FAILED);
    }
    return memory;
}

void *memory_get(size_t size)
{
    return require_memory(calloc(1, size != 0 ? size : 1));
}

void *memory_copy(size_t size, const void *bytes)
{
    void *copy = memory_get(size);
    if (size != 0)
        memcpy(copy, bytes, size);
    return copy;
}

char *memory_copy_text(const char *text)
{
    return memory_copy(strlen(text) + 1, text);
}

void *memory_grow(void *items, size_t count, size_t item_size)
{
    if ((count & (count - 1)) != 0) /* the block has room up to the next power of two */
        return items;
    const size_t capacity = count != 0 ? count * 2 : 1;
    return require_memory(capacity > SIZE_MAX / item_size ? NULL : realloc(items, capacity * item_size));
}

/* Returns the size of the first character if a terminal would do more with it than show it, and 0 if not. Such
 * characters are control characters, U+0080 to U+009F, line and paragraph separators, and characters that change the
 * direction of text. */
static size_t commands_terminal(const unsigned char *c)
{
    if (c[0] < 0x20 || c[0] == 0x7f)
        return 1;
    if (c[0] == 0xc2 && (c[1] & 0xe0) == 0x80)
        return 2;
    if (c[0] == 0xd8 && c[1] == 0x9c) /* U+061C */
        return 2;
    if (c[0] != 0xe2)
        return 0;
    const bool is_mark = c[1] == 0x80 && (c[2] == 0x8e || c[2] == 0x8f);    /* U+200E, U+200F */
    const bool is_embedding = c[1] == 0x80 && c[2] >= 0xa8 && c[2] <= 0xae; /* U+2028 to U+202E */
    const bool is_isolate = c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9;   /* U+2066 to U+2069 */
    return is_mark || is_embedding || is_isolate ? 3 : 0;
}

void text_put(FILE *stream, const char *text, unsigned indent)
{
    while (*text != '\0') {
        const unsigned char *c = (const unsigned char *)text;
        const size_t size = commands_terminal(c);
        if (*text == '\n' && indent != TEXT_ONE_LINE)
            (void)fprintf(stream, "\n%*s", (int)indent, "");
        else if (size == 0 || (*text == '\t' && indent != TEXT_ONE_LINE))
            (void)fputc(*text, stream);
        else if (*text == '\n' || *text == '\t')
            (void)fputs(*text == '\n' ? "\\n" : "\\t", stream);
        else
            (void)fprintf(stream, size == 1 ? "\\x%02x" : "\\u%04x",
                          size == 1   ? c[0]
                          : size == 2 ? (c[0] & 0x1fu) << 6 | (c[1] & 0x3fu)
                                      : (c[0] & 0xfu) << 12 | (c[1] & 0x3fu) << 6 | (c[2] & 0x3fu));
        text += size > 1 ? size : 1;
    }
}

bool text_contains(const char *text, const char *part)
{
    return text != NULL && strcasestr(text, part) != NULL;
}

bool text_ends_in(const char *text, const char *end)
{
    return strlen(text) >= strlen(end) && strcmp(text + strlen(text) - strlen(end), end) == 0;
}

size_t text_width(const char *text)
{
    size_t width = 0;
    for (; *text != '\0'; ++text)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

void text_cut(char *text, size_t width)
{
    size_t size = 0;
    if (text_width(text) <= width || width < 3)
        return;
    for (size_t column = 0; column < width - 2 || ((unsigned char)text[size] & 0xc0) == 0x80; ++size)
        column += ((unsigned char)text[size + 1] & 0xc0) != 0x80;
    memcpy(text + size, "..", 3);
}

char *text_append(char *text, const char *separator, const char *more)
{
    const size_t size = (text != NULL ? strlen(text) + strlen(separator) : 0) + strlen(more) + 1;
    char *joined = memory_get(size);
    (void)snprintf(joined, size, "%s%s%s", text != NULL ? text : "", text != NULL ? separator : "", more);
    free(text);
    return joined;
}

static bool has_word(const char *text, size_t size, const char *word)
{
    for (text += strspn(text, blanks); *text != '\0'; text += strspn(text, blanks)) {
        const size_t length = strcspn(text, blanks);
        if (length == size && memcmp(text, word, size) == 0)
            return true;
        text += length;
    }
    return false;
}

char *text_select_words(const char *text, const char *other, bool is_in_other, size_t *count)
{
    char *rest = NULL;
    char *selected = NULL;
    char *copy = memory_copy_text(text != NULL ? text : "");
    for (char *word = strtok_r(copy, blanks, &rest); word != NULL; word = strtok_r(NULL, blanks, &rest)) {
        if (has_word(other != NULL ? other : "", strlen(word), word) != is_in_other)
            continue;
        selected = text_append(selected, " ", word);
        if (count != NULL)
            ++*count;
    }
    free(copy);
    return selected;
}
