/*
 * text_scanner.h - splits C-like text into tokens, in as much detail as finding its directives requires.
 *
 * A line splice is a backslash at the end of a line, which joins it to the next one. The scanner sees through comments
 * and splices, so that neither can hide a directive. If compilers disagree about a comment or a literal, the scan stops
 * with a problem instead of choosing one reading.
 */
#ifndef INGOT_CORE_HERMETIC_TEXT_TEXT_SCANNER_H
#define INGOT_CORE_HERMETIC_TEXT_TEXT_SCANNER_H

#include "util/memory.h"

/* A text without line splices. */
struct clean_text {
    const char *start;
    size_t size;
    size_t *splices; /* offsets in `start` at which lines were joined */
    size_t *resumes; /* for each splice, the offset in `raw` at which the text continues */
    size_t splice_count;
    const char *raw; /* the original text, with its splices but without a byte order mark */
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
    TOKEN_OTHER      /* any other character */
};

struct token {
    enum token_kind kind;
    bool space_before;
    const char *start;
    size_t size;
};

/* The part of a line after a quote that is not closed. Both pointers are NULL if there is none. */
struct open_quotes {
    const char *from;
    const char *to;
};

struct scanner {
    const struct clean_text *text;
    const char *at;
    const char *end;
    struct open_quotes open_single; /* the last such part that was found, for each kind of quote */
    struct open_quotes open_double;
    bool is_in_comment;  /* true if the text ended in a comment */
    bool cplusplus;      /* true if the language certainly has raw strings and digit separators */
    bool has_paste;      /* true if a ## or %:%: was read */
    size_t *steps;       /* counts the bytes that were looked at, also by copies of the scanner; or NULL */
    const char *problem; /* what stopped the scan at `at`; NULL if nothing did */
};

/* Removes the splices. If there are none, `clean` points to the original bytes. Returns NULL, or a problem (a static
 * string) whose line number it stores in *line. */
const char *text_clean(struct arena *arena, struct clean_text *clean, size_t size, const char *bytes, size_t *line);
/* Returns the length of the name at the beginning of a text; a name may begin with a digit. */
size_t text_name_length(size_t size, const char *text);
/* Returns the number of line feeds between two places. */
size_t text_count_lines(const char *from, const char *to);
size_t text_line(const struct clean_text *clean, const char *at);
/* True if two places, of which `to` is not the earlier one, are on different lines of the original text. */
bool text_is_on_two_lines(const struct clean_text *clean, const char *from, const char *to);
/* Converts an offset in `start` to one in `raw`. If there is a splice at the offset, returns the offset after it. */
size_t text_raw_offset(const struct clean_text *clean, size_t offset);

void scanner_init(struct scanner *scanner, const struct clean_text *text, const char *from, bool cplusplus);
/* Reads the next token. Its kind is TOKEN_END at the end of the text and after a problem. */
void scanner_next(struct scanner *scanner, struct token *token);
/* Skips lines, up to the first that contains a directive, a comment, a literal, a name that begins with "__" or "_P",
 * or the name "_". Called only at the beginning of a line. */
void scanner_skip_plain_lines(struct scanner *scanner);
/* Skips white space and comments on the line. True if there were any. */
bool scanner_skip_space(struct scanner *scanner);

/* Reads on from `token` to the end of its line. */
void scanner_skip_line(struct scanner *scanner, struct token *token);

bool token_is(const struct token *token, const char *text);
static inline bool token_ends_line(const struct token *token)
{
    return token->kind == TOKEN_END || token->kind == TOKEN_NEWLINE;
}

#endif
