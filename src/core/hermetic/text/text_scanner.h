/*
 * text_scanner.h - splits C-like text into tokens, in as much detail as its directives require.
 *
 * The scanner sees through comments and line splices, so that neither can hide a directive. If compilers disagree about
 * a comment or a literal, the scan stops with a problem instead of choosing a reading.
 */
#ifndef INGOT_CORE_HERMETIC_TEXT_TEXT_SCANNER_H
#define INGOT_CORE_HERMETIC_TEXT_TEXT_SCANNER_H

#include "core/base/arena.h"

/* A text without line splices. Line numbers are those of the original. */
struct clean_text {
    const char *start;
    size_t size;
    size_t *splices; /* offsets in start where lines were joined */
    size_t *resumes; /* for each splice, where the text continues in raw */
    size_t splice_count;
    const char *raw; /* the text with its splices, but without a byte order mark */
    size_t raw_size;
};

enum token_kind {
    TOKEN_END,
    TOKEN_NEWLINE,
    TOKEN_IDENTIFIER,
    TOKEN_NUMBER,
    TOKEN_STRING,
    TOKEN_CHARACTER,
    TOKEN_HASH,      /* # or %: */
    TOKEN_HASH_HASH, /* ## or %:%: */
    TOKEN_OTHER      /* one character */
};

struct token {
    enum token_kind kind;
    bool space_before;
    const char *start;
    size_t size;
};

/* The part of a line in which quotes of one kind are not closed; NULL if there is none. */
struct open_quotes {
    const char *from;
    const char *to;
};

struct scanner {
    const struct clean_text *text;
    const char *at;
    const char *end;
    struct open_quotes open_single; /* the last open quotes found */
    struct open_quotes open_double;
    bool is_in_comment;  /* true if the text ended in a comment */
    bool cplusplus;      /* the language certainly has raw strings and digit separators */
    const char *problem; /* what stopped the scan at `at`, or NULL */
};

/* Removes the splices, or borrows bytes if there are none. Returns NULL, or a problem (a static string) and its
 * *line. */
const char *text_clean(struct arena *arena, struct clean_text *clean, size_t size, const char *bytes, size_t *line);
size_t text_line(const struct clean_text *clean, const char *at);
/* Converts an offset in start to an offset in raw, after a splice if there is one. */
size_t text_raw_offset(const struct clean_text *clean, size_t offset);

void scanner_init(struct scanner *scanner, const struct clean_text *text, const char *from, bool cplusplus);
/* Reads the next token: TOKEN_END at the end or after a problem. */
void scanner_next(struct scanner *scanner, struct token *token);
/* Called at the beginning of a line, skips whole lines without directives, comments, literals and names that begin with
 * "__" or "_P". */
void scanner_skip_plain_lines(struct scanner *scanner);
/* Skips white space and comments within the line. */
bool scanner_skip_space(struct scanner *scanner);

bool token_is(const struct token *token, const char *text);

#endif
