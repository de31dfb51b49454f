/*
 * text_scanner.h - a C-like text as tokens, as far as its directives need.
 *
 * Comments and line splices are looked through, so that neither can hide a directive. Where compilers would disagree
 * about what is a comment or a literal, the scan stops with a problem instead of choosing a reading.
 */
#ifndef INGOT_CORE_HERMETIC_TEXT_SCANNER_H
#define INGOT_CORE_HERMETIC_TEXT_SCANNER_H

#include "core/base/arena.h"

/* A text without line splices. Positions in it are counted in lines of the original. */
struct clean_text {
    const char *start;
    size_t size;
    size_t *splices; /* where in start lines were joined */
    size_t *resumes; /* where in raw each of them goes on */
    size_t splice_count;
    const char *raw; /* the text with its splices; without a byte order mark */
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

/* Part of a line in which no quote of a kind is closed; NULL: none. */
struct open_quotes {
    const char *from;
    const char *to;
};

struct scanner {
    const struct clean_text *text;
    const char *at;
    const char *end;
    struct open_quotes open_single; /* the last that were found */
    struct open_quotes open_double;
    bool is_in_comment;  /* the text ended in one */
    bool cplusplus;      /* raw strings and digit separators are known to be in the language */
    const char *problem; /* what stopped the scan, else NULL; at stands there */
};

/* Borrows bytes where nothing must be joined. On a problem (a static sentence), *line is where it stands. */
const char *text_clean(struct arena *arena, struct clean_text *clean, size_t size, const char *bytes, size_t *line);
size_t text_line(const struct clean_text *clean, const char *at);
/* The place in raw of an offset in start; behind a splice that stands there. */
size_t text_raw_offset(const struct clean_text *clean, size_t offset);

void scanner_init(struct scanner *scanner, const struct clean_text *text, const char *from, bool cplusplus);
/* TOKEN_END at the end and on a problem. */
void scanner_next(struct scanner *scanner, struct token *token);
/* From a line's beginning over whole lines that have no directive, comment, literal, or name that begins with "__" or
 * "_P". */
void scanner_skip_plain_lines(struct scanner *scanner);
/* Over white space and comments within the line. */
bool scanner_skip_space(struct scanner *scanner);

bool token_is(const struct token *token, const char *text);

#endif
