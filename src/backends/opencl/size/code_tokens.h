/*
 * code_tokens.h - splits a text of C into names, directives and the rest, without comments.
 */
#ifndef INGOT_BACKENDS_OPENCL_SIZE_CODE_TOKENS_H
#define INGOT_BACKENDS_OPENCL_SIZE_CODE_TOKENS_H

#include <stdbool.h>
#include <stdint.h>

struct code_cursor {
    const char *at;
    const char *end;
    bool in_line; /* true if something other than blanks precedes it on the line */
};

enum token_kind { TOKEN_END, TOKEN_NAME, TOKEN_DIRECTIVE, TOKEN_OTHER };

struct code_token {
    enum token_kind kind;
    const char *start;
    const char *end;
};

/* Numbers and literals are one token each, and so is a directive with its continued lines. */
struct code_token code_token_next(struct code_cursor *cursor);
bool code_token_is(const struct code_token *token, const char *word);
/* Returns a hash of the token's text. Equal hashes count as equal texts. */
uint64_t code_token_hash(const struct code_token *token);

#endif
