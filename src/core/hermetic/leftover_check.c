/*
 * leftover_check.c - searches a text again for directives that include files, without the scanner, in case the scan
 * missed one.
 *
 * It examines every # or %: that is not part of an event (source_graph.h), even in code, comments and literals. If the
 * next word, after any comments, blanks and non-ASCII bytes, is include, import or embed, then a small, separate reader
 * must confirm that the place is in a comment or a literal.
 *
 * The time is proportional to the size of the text. Texts are possible for which this would take more steps, because
 * each # is followed by a different sequence of comments. The check counts its steps, and does not confirm a text that
 * takes too many.
 */
#include "core/hermetic/source_graph.h"

#include <string.h>

static bool is_word(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool begins_with(const char *at, const char *end, const char *word)
{
    const size_t length = strlen(word);
    return (size_t)(end - at) >= length && memcmp(at, word, length) == 0;
}

static bool is_including_word(const char *at, const char *end)
{
    return begins_with(at, end, "include") || begins_with(at, end, "import") || begins_with(at, end, "embed");
}

/* Limit of the work: steps per byte, and steps in addition. A step is a byte that is looked at. */
enum { STEPS_PER_BYTE = 16, MORE_STEPS = 4096 };

/* A part of the text without comments, from which the next word or quote was found. */
struct known_word {
    const char *from;
    const char *to;
    const char *word;
};

/* What is kept from one call to the next, so that all calls together read the text only once. */
struct look {
    const struct clean_text *clean;
    const char *end;
    bool raw_strings;
    const char *close;        /* the end of a comment that next_word found, or the end of the text */
    const char *at;           /* comments and literals that begin before this place have been read */
    const char *hidden_close; /* like `close`, for comments before `at` */
    const char *hidden_end;
    struct known_word first; /* the first part of the last search for a word, and its last part */
    struct known_word last;
    size_t steps;
    size_t max_steps;
};

static bool is_out_of_steps(struct look *look, size_t steps)
{
    look->steps += steps;
    return look->steps > look->max_steps;
}

/* Returns the end of the comment whose text begins at `at`. *close is the end of a comment that was found before, which
 * is the next one for all places after the one for which it was found. */
static const char *comment_end(struct look *look, const char **close, const char *at)
{
    if (*close < at) {
        const char *found = memmem(at, (size_t)(look->end - at), "*/", 2);
        *close = found != NULL ? found : look->end;
        look->steps += (size_t)(*close - at);
    }
    return *close < look->end ? *close + 2 : look->end;
}

/* Returns the known part in which the place is, or NULL. */
static const struct known_word *find_known(const struct look *look, const char *at)
{
    if (look->first.from <= at && at < look->first.to)
        return &look->first;
    return look->last.from <= at && at < look->last.to ? &look->last : NULL;
}

/* Returns the next word or quote on the line, or the line's end. Skips comments and everything else. */
static const char *next_word(struct look *look, const char *at)
{
    const char *from = at;
    const char *first_end = NULL; /* the end of the part before the first comment */
    const char *last_from = at;   /* the beginning of the part after the last comment */
    const struct known_word *known = NULL;
    while (at < look->end && !is_word(*at) && *at != '"' && *at != '\n') {
        known = find_known(look, at);
        if (known != NULL || is_out_of_steps(look, 1))
            break;
        if (begins_with(at, look->end, "/*")) {
            first_end = first_end != NULL ? first_end : at;
            at = last_from = comment_end(look, &look->close, at + 2);
        } else {
            ++at;
        }
    }
    const char *word = known != NULL ? known->word : at;
    const char *part_end = known != NULL ? known->to : at;
    if (known != &look->first)
        look->last = (struct known_word){last_from, part_end, word};
    look->first = (struct known_word){from, first_end != NULL ? first_end : part_end, word};
    return word;
}

/* Returns the end of the literal that begins with the quote at `at`, or NULL if its line ends first. */
static const char *literal_end(struct look *look, const char *at)
{
    const char quote = *at;
    for (++at; at < look->end && *at != '\n' && !is_out_of_steps(look, 1); ++at) {
        if (*at == quote)
            return at + 1;
        at += *at == '\\' && at + 1 < look->end && at[1] != '\n' ? 1 : 0;
    }
    return NULL;
}

static const char *raw_string_end(struct look *look, const char *quote)
{
    const char *end = look->end;
    const char *open = memchr(quote, '(', end - quote > 18 ? 18 : (size_t)(end - quote));
    if (open == NULL)
        return NULL;
    const size_t length = (size_t)(open - quote) - 1;
    for (const char *p = open; (p = memchr(p, ')', (size_t)(end - p))) != NULL; ++p) {
        if ((size_t)(end - p) >= length + 2 && memcmp(p + 1, quote + 1, length) == 0 && p[1 + length] == '"') {
            look->steps += (size_t)(p - open);
            return p + length + 2;
        }
    }
    look->steps += (size_t)(end - open);
    return NULL;
}

/* Returns the end of the comment or literal that begins at `at`, or NULL if none begins there. */
static const char *end_of_hidden(struct look *look, const char *at)
{
    const bool is_first = at == look->clean->start;
    if (begins_with(at, look->end, "//")) {
        const char *line_end = memchr(at, '\n', (size_t)(look->end - at));
        return line_end != NULL ? line_end : look->end;
    }
    if (begins_with(at, look->end, "/*"))
        return comment_end(look, &look->hidden_close, at + 2);
    if (*at == '"' && look->raw_strings && !is_first && at[-1] == 'R')
        return raw_string_end(look, at);
    /* in C++, a quote in a number separates digits */
    if (*at == '"' || (*at == '\'' && !(look->raw_strings && !is_first && is_word(at[-1]))))
        return literal_end(look, at);
    return NULL;
}

/* True if the place is in a comment or a literal. Places must be passed in ascending order. */
static bool is_hidden(struct look *look, const char *place)
{
    while (look->at <= place && !is_out_of_steps(look, 1)) {
        const char *behind = end_of_hidden(look, look->at);
        look->hidden_end = behind != NULL ? behind : look->hidden_end;
        look->at = behind != NULL && behind > look->at ? behind : look->at + 1;
    }
    return look->hidden_end > place;
}

static void look_init(struct look *look, const struct clean_text *clean, bool raw_strings)
{
    *look = (struct look){.clean = clean, .end = clean->start + clean->size, .raw_strings = raw_strings};
    look->close = look->at = look->hidden_close = look->hidden_end = clean->start;
    look->first = look->last = (struct known_word){clean->start, clean->start, clean->start};
    look->max_steps = STEPS_PER_BYTE * clean->size + MORE_STEPS;
}

static bool looks_like_directive(struct look *look, const char *at)
{
    const char *word = next_word(look, at);
    return word < look->end && is_including_word(word, look->end);
}

/* True if the text may have an `import <x.h>;`, which C++ accepts on any line. Sets *at to its place. */
static bool has_import_keyword(struct text_scan *text, const char **at)
{
    const struct clean_text *clean = &text->clean;
    struct look look;
    const char *end = clean->start + clean->size;
    look_init(&look, clean, true);
    for (const char *p = clean->start; (p = memmem(p, (size_t)(end - p), "import", 6)) != NULL; p += 6) {
        const bool is_whole = (p == clean->start || !is_word(p[-1])) && (p + 6 == end || !is_word(p[6]));
        if (is_whole && !is_hidden(&look, p)) {
            *at = p;
            return true;
        }
    }
    text->steps += look.steps;
    return false;
}

/* Returns the next # or %: at or after `at`, or `end`. *hash and *percent keep the next one of each kind between
 * calls. */
static const char *next_hash(const char *at, const char *end, const char **hash, const char **percent)
{
    if (*hash < at) {
        const char *found = memchr(at, '#', (size_t)(end - at));
        *hash = found != NULL ? found : end;
    }
    if (*percent < at) {
        const char *found = memchr(at, '%', (size_t)(end - at));
        while (found != NULL && (found + 1 == end || found[1] != ':'))
            found = memchr(found + 1, '%', (size_t)(end - found) - 1);
        *percent = found != NULL ? found : end;
    }
    return *hash < *percent ? *hash : *percent;
}

bool leftover_check(const struct source_graph *graph, struct text_scan *text, const char **at)
{
    const char *start = text->clean.start;
    const char *end = start + text->clean.size;
    const struct text_event *event = text->first_event;
    const char *hash = NULL;
    const char *percent = NULL;
    struct look look;

    look_init(&look, &text->clean, graph->cplusplus);
    for (const char *p = next_hash(start, end, &hash, &percent); p < end; p = next_hash(p, end, &hash, &percent)) {
        while (event != NULL && start + event->end <= p)
            event = event->next;
        if (event != NULL && start + event->start <= p) {
            p = start + event->end;
            continue;
        }
        const bool may_be_one = looks_like_directive(&look, p) && !is_hidden(&look, p);
        if (may_be_one || is_out_of_steps(&look, 1)) {
            *at = p;
            return true;
        }
        ++p;
    }
    text->steps += look.steps;
    return graph->brings_assert && has_import_keyword(text, at);
}
