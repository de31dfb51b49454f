/*
 * code_tokens.c - splits C source text into tokens; see code_tokens.h.
 */
#include "backends/opencl/size/code_tokens.h"

#include <string.h>

static bool is_in_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Returns the end of a line, or of a directive with its continuation lines. */
static const char *line_end(const char *at, const char *end)
{
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        if (newline == NULL)
            return end;
        if (newline == at || newline[-1] != '\\')
            return newline;
        at = newline + 1;
    }
    return end;
}

static const char *comment_end(const char *at, const char *end)
{
    const char *close = memmem(at, (size_t)(end - at), "*/", 2);
    return close != NULL ? close + 2 : end;
}

static void skip_blanks(struct code_cursor *cursor)
{
    while (cursor->at < cursor->end) {
        const char c = *cursor->at;
        const char next = cursor->at + 1 < cursor->end ? cursor->at[1] : '\0';
        if (c == '\n')
            cursor->in_line = false;
        if (c == '/' && next == '/')
            cursor->at = line_end(cursor->at, cursor->end);
        else if (c == '/' && next == '*')
            cursor->at = comment_end(cursor->at + 2, cursor->end);
        else if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\\')
            ++cursor->at;
        else
            return;
    }
}

static const char *literal_end(const char *at, const char *end)
{
    const char quote = *at++;
    while (at < end && *at != quote && *at != '\n')
        at += *at == '\\' ? 2 : 1;
    return at < end ? at + 1 : end;
}

struct code_token code_token_next(struct code_cursor *cursor)
{
    skip_blanks(cursor);
    struct code_token token = {TOKEN_END, cursor->at, cursor->end};
    if (cursor->at >= cursor->end)
        return token;
    const char *at = cursor->at;
    if (*at == '#' && !cursor->in_line) {
        token.kind = TOKEN_DIRECTIVE;
        at = line_end(at, cursor->end);
    } else if (is_in_name(*at)) {
        token.kind = *at >= '0' && *at <= '9' ? TOKEN_OTHER : TOKEN_NAME;
        while (at < cursor->end && is_in_name(*at))
            ++at;
    } else {
        token.kind = TOKEN_OTHER;
        at = *at == '"' || *at == '\'' ? literal_end(at, cursor->end) : at + 1;
    }
    cursor->in_line = true;
    cursor->at = at;
    token.end = at;
    return token;
}

bool code_token_is(const struct code_token *token, const char *word)
{
    const size_t size = strlen(word);
    return (size_t)(token->end - token->start) == size && memcmp(token->start, word, size) == 0;
}

uint64_t code_token_hash(const struct code_token *token)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (const char *at = token->start; at < token->end; ++at)
        hash = (hash ^ (unsigned char)*at) * 1099511628211u;
    return hash;
}
