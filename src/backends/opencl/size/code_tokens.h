/*
 * code_tokens.h - splits C source text into names, directives and other tokens, and skips comments.
 */
#ifndef INGOT_BACKENDS_OPENCL_SIZE_CODE_TOKENS_H
#define INGOT_BACKENDS_OPENCL_SIZE_CODE_TOKENS_H

#include <stdbool.h>
#include <stdint.h>

struct code_cursor {
    const char *at;
    const char *end;
    bool in_line; /* true if something other than blanks precedes `at` on its line */
};

enum token_kind { TOKEN_END, TOKEN_NAME, TOKEN_DIRECTIVE, TOKEN_OTHER };

struct code_token {
    enum token_kind kind;
    const char *start;
    const char *end;
};

/* Returns the next token, or TOKEN_END. A number or a literal is one token, and so is a directive with its continuation
 * lines. */
struct code_token code_token_next(struct code_cursor *cursor);
bool code_token_is(const struct code_token *token, const char *word);
/* Returns a hash of the token's text. Callers treat tokens with the same hash as the same text. */
uint64_t code_token_hash(const struct code_token *token);

#endif
