/*
 * includes.c - what a text includes, as far as it can be told without a compiler.
 *
 * It is enough to look for one word, in comments, too: a text that has it and reads no file is compiled at once, which
 * costs time and nothing else. Lines that a backslash joins are joined first, because the word may stand on two.
 */
#include "layers/opencl/objects/includes.h"

#include <stdlib.h>
#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_of_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Returns the size of a backslash and the end of its line, or 0. */
static size_t size_of_splice(const char *at)
{
    const size_t mark = *at == '\\' ? 1 : strncmp(at, "\?\?/", 3) == 0 ? 3 : 0;
    if (mark == 0)
        return 0;
    const size_t blanks = strspn(at + mark, " \t\v\f\r");
    const char *end = at + mark + blanks;
    return *end == '\n' ? mark + blanks + 1 : end[-1] == '\r' ? mark + blanks : 0;
}

/* Returns the text with joined lines, which the caller frees, or NULL without memory. */
static char *join_lines(const char *text)
{
    char *joined = malloc(strlen(text) + 1);
    size_t size = 0;
    while (joined != NULL && *text != '\0') {
        const size_t splice = size_of_splice(text);
        if (splice == 0)
            joined[size++] = *text;
        text += splice > 0 ? splice : 1;
    }
    if (joined != NULL)
        joined[size] = '\0';
    return joined;
}

static bool is_header(size_t size, const char *name, const struct object_headers *headers)
{
    size_t at = 0;
    while (at < headers->count &&
           (strlen(headers->texts[at].name) != size || memcmp(headers->texts[at].name, name, size) != 0))
        ++at;
    return at < headers->count;
}

/* True for `#include "NAME"` and `#include <NAME>`, alone on a line, with the name of a header. */
static bool is_of_header(const char *text, const char *word, const struct object_headers *headers)
{
    const char *before = word;
    while (before > text && is_blank(before[-1]))
        --before;
    const char *name = word + strlen("include");
    name += strspn(name, " \t");
    const char close = *name == '<' ? '>' : '"';
    if (before == text || before[-1] != '#' || (*name != '"' && *name != '<'))
        return false;
    const size_t size = strcspn(++name, close == '>' ? ">\n" : "\"\n");
    const char *end = name + size;
    if (*end != close || !is_header(size, name, headers))
        return false;
    ++end;
    end += strspn(end, " \t\r");
    return *end == '\0' || *end == '\n';
}

static bool may_read_file(const char *text, const struct object_headers *headers)
{
    char *joined = join_lines(text);
    bool may = joined == NULL;
    const char *at = joined;
    while (!may && (at = strstr(at, "include")) != NULL) {
        const char after = at[strlen("include")];
        may = !(is_of_word(after) && after != '_') && !is_of_header(joined, at, headers);
        ++at;
    }
    free(joined);
    return may;
}

bool includes_may_read_file(const char *text, const struct object_headers *headers)
{
    bool may = may_read_file(text, headers);
    for (size_t i = 0; i < headers->count && !may; ++i)
        may = may_read_file(headers->texts[i].bytes, headers);
    return may;
}
