/*
 * leftover_check.c - searches a text again for directives that include files, without the scanner, in case the scan
 * missed one.
 *
 * A directive was missed if the word include, import or embed follows a # or %: that is not in an event
 * (source_graph.h), a comment or a literal. A small reader of this file finds the comments and literals in one pass.
 * Few texts need that pass, because most have no line with both a # or %: and such a word.
 *
 * The time is proportional to the size of the text. In an unusual text, many quotes may each be followed by a long part
 * that does not close them. The reader therefore counts the bytes that it examines. Above the limit, it gives up, and
 * the text counts as one with a missed directive.
 */
#include "core/hermetic/source_graph.h"

#include <string.h>

static const char *const including_words[] = {"include", "import", "embed"};
enum { INCLUDING_WORDS = sizeof(including_words) / sizeof(including_words[0]) };

static bool is_word(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool has_word_at(const char *at, const char *end, const char *word)
{
    const size_t length = strlen(word);
    return (size_t)(end - at) >= length && memcmp(at, word, length) == 0;
}

static bool has_substring(const char *from, const char *to, const char *part)
{
    return memmem(from, (size_t)(to - from), part, strlen(part)) != NULL;
}

/* ---- comments and literals ---- */

/* The check examines at most STEPS_PER_BYTE bytes per byte of the text, and MORE_STEPS in addition. It may examine a
 * byte several times. */
enum { STEPS_PER_BYTE = 16, MORE_STEPS = 4096 };

struct reader {
    const char *start;
    const char *end;
    bool raw_strings;
    const char *unclosed; /* the delimiter of a raw string that has no end in the rest of the text, or NULL */
    size_t unclosed_size;
    size_t steps;
};

/* Returns the end of the literal that begins with the quote at `at`, or NULL if its line ends first. */
static const char *literal_end(struct reader *reader, const char *at)
{
    const char quote = *at;
    for (++at; at < reader->end && *at != '\n'; ++at, ++reader->steps) {
        if (*at == quote)
            return at + 1;
        at += *at == '\\' && at + 1 < reader->end && at[1] != '\n' ? 1 : 0;
    }
    return NULL;
}

static const char *raw_string_end(struct reader *reader, const char *quote)
{
    const char *end = reader->end;
    const char *open = memchr(quote, '(', end - quote > 18 ? 18 : (size_t)(end - quote));
    if (open == NULL)
        return NULL;
    const size_t length = (size_t)(open - quote) - 1;
    if (reader->unclosed != NULL && reader->unclosed_size == length && memcmp(reader->unclosed, quote + 1, length) == 0)
        return NULL;
    for (const char *p = open; (p = memchr(p, ')', (size_t)(end - p))) != NULL; ++p) {
        if ((size_t)(end - p) >= length + 2 && memcmp(p + 1, quote + 1, length) == 0 && p[1 + length] == '"') {
            reader->steps += (size_t)(p - open);
            return p + length + 2;
        }
    }
    reader->steps += (size_t)(end - open);
    reader->unclosed = quote + 1;
    reader->unclosed_size = length;
    return NULL;
}

/* Returns the end of the comment or literal that begins at `at`, or NULL if none begins there. */
static const char *end_of_hidden(struct reader *reader, const char *at)
{
    const char before = at == reader->start ? ' ' : at[-1];
    if (has_word_at(at, reader->end, "//") || has_word_at(at, reader->end, "/*")) {
        const bool is_line = at[1] == '/';
        const char *end = memmem(at + 2, (size_t)(reader->end - at) - 2, is_line ? "\n" : "*/", is_line ? 1 : 2);
        if (end == NULL)
            return reader->end;
        return is_line ? end : end + 2;
    }
    if (*at == '"')
        return reader->raw_strings && before == 'R' ? raw_string_end(reader, at) : literal_end(reader, at);
    /* in C++, a quote in a number separates digits */
    return *at == '\'' && !(reader->raw_strings && is_word(before)) ? literal_end(reader, at) : NULL;
}

static bool is_out_of_steps(const struct reader *reader)
{
    return reader->steps > STEPS_PER_BYTE * (size_t)(reader->end - reader->start) + MORE_STEPS;
}

/* ---- directives ---- */

static const char *word_end(const char *at, const char *end)
{
    while (at < end && is_word(*at))
        ++at;
    return at;
}

static bool is_including_word(const char *at, const char *end)
{
    bool is_one = false;
    for (size_t i = 0; i < INCLUDING_WORDS; ++i)
        is_one = is_one || has_word_at(at, end, including_words[i]);
    return is_one;
}

/* Returns the beginning of what may be a directive outside of the events, or NULL. */
static const char *find_directive(struct reader *reader, const struct text_event *event)
{
    const char *hash = NULL; /* the first one on the line, if no word or literal follows it yet */
    for (const char *at = reader->start; at < reader->end;) {
        while (event != NULL && reader->start + event->end <= at)
            event = event->next;
        if (event != NULL && reader->start + event->start <= at) {
            at = reader->start + event->end;
            hash = NULL;
            continue;
        }
        const char *hidden_end = end_of_hidden(reader, at);
        if (is_out_of_steps(reader))
            return at;
        if (hidden_end != NULL) {
            hash = *at == '/' ? hash : NULL;
            at = hidden_end;
        } else if (is_word(*at)) {
            if (hash != NULL && is_including_word(at, reader->end))
                return hash;
            hash = NULL;
            at = word_end(at, reader->end);
        } else {
            hash = *at == '\n' ? NULL : hash;
            if (hash == NULL && (*at == '#' || has_word_at(at, reader->end, "%:")))
                hash = at;
            ++at;
        }
    }
    return NULL;
}

/* True if an including word may belong to a directive: if there is a # or %: before it on its line, or the end of a
 * comment, before which they may be. */
static bool may_have_directive(const char *start, const char *end)
{
    for (size_t i = 0; i < INCLUDING_WORDS; ++i) {
        const size_t length = strlen(including_words[i]);
        const char *from = start;
        for (const char *p = start; (p = memmem(p, (size_t)(end - p), including_words[i], length)) != NULL; ++p) {
            const char *line = memrchr(from, '\n', (size_t)(p - from));
            from = line != NULL ? line : from;
            if (has_substring(from, p, "#") || has_substring(from, p, "%:") || has_substring(from, p, "*/"))
                return true;
            from = p;
        }
    }
    return false;
}

static bool may_have_directives(const struct text_scan *text)
{
    const char *start = text->facts.clean.start;
    const char *from = start;
    for (const struct text_event *event = text->first_event; event != NULL; event = event->next) {
        if (start + event->start > from && may_have_directive(from, start + event->start))
            return true;
        from = start + event->end;
    }
    return may_have_directive(from, start + text->facts.clean.size);
}

/* Returns the place of an `import <x.h>;`, which C++ accepts on any line, or NULL. */
static const char *find_import(struct reader *reader)
{
    for (const char *at = reader->start; at < reader->end;) {
        const char *hidden_end = end_of_hidden(reader, at);
        const char *end = is_word(*at) ? word_end(at, reader->end) : at + 1;
        if ((end - at == 6 && memcmp(at, "import", 6) == 0) || is_out_of_steps(reader))
            return at;
        at = hidden_end != NULL ? hidden_end : end;
    }
    return NULL;
}

bool leftover_check(const struct source_graph *graph, struct text_scan *text, const char **at)
{
    const char *start = text->facts.clean.start;
    struct reader reader = {.start = start, .end = start + text->facts.clean.size, .raw_strings = graph->cplusplus};
    *at = may_have_directives(text) ? find_directive(&reader, text->first_event) : NULL;
    if (*at == NULL && graph->brings_assert && has_substring(start, reader.end, "import")) {
        reader.raw_strings = true;
        reader.unclosed = NULL; /* the search begins anew */
        *at = find_import(&reader);
    }
    text->steps += reader.steps;
    return *at != NULL;
}
