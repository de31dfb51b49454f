/*
 * macro_body.c - parses macro definitions, and handles lists of tokens and sets of names; see macro_body.h.
 */
#include "core/hermetic/text/macro_body.h"

#include <string.h>

enum { MAX_PARAMETERS = 128 };

/* ---- tokens ---- */

struct macro_token *macro_token_add(struct arena *arena, struct macro_token ***last, const struct token *token,
                                    const struct name_set *hidden)
{
    struct macro_token *added = arena_take(arena, sizeof(*added));
    if (added == NULL)
        return NULL;
    added->token = *token;
    added->hidden = hidden;
    **last = added;
    *last = &added->next;
    return added;
}

struct macro_token *macro_tokens_read(struct arena *arena, struct scanner *scanner)
{
    struct macro_token *first = NULL;
    struct macro_token **last = &first;
    struct token token;
    for (scanner_next(scanner, &token); token.kind != TOKEN_END; scanner_next(scanner, &token)) {
        if (token.kind != TOKEN_NEWLINE && macro_token_add(arena, &last, &token, NULL) == NULL)
            break;
    }
    return first;
}

size_t macro_tokens_spell(const struct macro_token *list, bool escape, char *out)
{
    size_t size = 0;
    for (const struct macro_token *at = list; at != NULL; at = at->next) {
        if (at != list && at->token.space_before) {
            if (out != NULL)
                out[size] = ' ';
            ++size;
        }
        const bool literal = at->token.kind == TOKEN_STRING || at->token.kind == TOKEN_CHARACTER;
        for (size_t i = 0; i < at->token.size; ++i) {
            const char c = at->token.start[i];
            if (escape && literal && (c == '"' || c == '\\')) {
                if (out != NULL)
                    out[size] = '\\';
                ++size;
            }
            if (out != NULL)
                out[size] = c;
            ++size;
        }
    }
    return size;
}

/* ---- bodies ---- */

static void add_parameter(struct arena *arena, struct macro_body *body, const struct token *name)
{
    struct parameter **last = &body->parameters;
    while (*last != NULL)
        last = &(*last)->next;
    *last = arena_take(arena, sizeof(**last));
    if (*last == NULL)
        return;
    (*last)->name = *name;
    ++body->parameter_count;
}

static void read_parameters(struct arena *arena, struct macro_body *body, struct scanner *scanner)
{
    bool after_name = false;
    struct token token;
    scanner_next(scanner, &token); /* the opening parenthesis */
    for (scanner_next(scanner, &token); !token_is(&token, ")"); scanner_next(scanner, &token)) {
        if (token.kind == TOKEN_END || token.kind == TOKEN_NEWLINE || body->parameter_count > MAX_PARAMETERS) {
            body->unsupported = "its parameter list is not closed or too long";
            return;
        }
        if (token.kind == TOKEN_IDENTIFIER)
            add_parameter(arena, body, &token);
        else if (token_is(&token, ".") && after_name)
            body->unsupported = "its parameter list is not standard C";
        else if (token_is(&token, "."))
            body->variadic = true;
        after_name = token.kind == TOKEN_IDENTIFIER;
    }
    static const struct token variable_part = {TOKEN_IDENTIFIER, false, "__VA_ARGS__", sizeof("__VA_ARGS__") - 1};
    if (body->variadic)
        add_parameter(arena, body, &variable_part);
}

static const char *unsupported_in(const struct macro_body *body)
{
    for (const struct macro_token *at = body->tokens; at != NULL; at = at->next) {
        if (token_is(&at->token, "__VA_OPT__"))
            return "it uses __VA_OPT__";
        if (body->variadic && token_is(&at->token, ",") && at->next != NULL && at->next->token.kind == TOKEN_HASH_HASH)
            return "it joins a comma to its arguments";
    }
    return NULL;
}

struct macro_body *macro_body_of(struct arena *arena, struct macro_definition *definition)
{
    if (definition->body != NULL)
        return definition->body;
    struct macro_body *body = arena_take(arena, sizeof(*body));
    if (body == NULL)
        return NULL;
    const struct clean_text text = {.start = definition->text, .size = definition->size};
    struct scanner scanner;
    scanner_init(&scanner, &text, text.start, false);
    body->function_like = text.size != 0 && text.start[0] == '(';
    if (body->function_like)
        read_parameters(arena, body, &scanner);
    body->tokens = macro_tokens_read(arena, &scanner);
    if (body->unsupported == NULL)
        body->unsupported = scanner.problem != NULL ? scanner.problem : unsupported_in(body);
    definition->body = body;
    return body;
}

bool macro_parameter_index(const struct macro_body *body, const struct token *token, size_t *index)
{
    *index = 0;
    if (token->kind != TOKEN_IDENTIFIER)
        return false;
    for (const struct parameter *at = body->parameters; at != NULL; at = at->next, ++*index) {
        if (at->name.size == token->size && memcmp(at->name.start, token->start, token->size) == 0)
            return true;
    }
    return false;
}

/* ---- sets of names ---- */

bool name_set_has(const struct name_set *set, const struct macro *macro, size_t *steps)
{
    for (; set != NULL && set->macro != macro; set = set->next)
        ++*steps;
    return set != NULL;
}

const struct name_set *name_set_add(struct arena *arena, const struct name_set *set, const struct macro *macro,
                                    size_t *steps)
{
    if (name_set_has(set, macro, steps))
        return set;
    struct name_set *longer = arena_take(arena, sizeof(*longer));
    if (longer == NULL)
        return set;
    longer->next = set;
    longer->macro = macro;
    return longer;
}

const struct name_set *name_set_common(struct arena *arena, const struct name_set *a, const struct name_set *b,
                                       size_t *steps)
{
    const struct name_set *common = NULL;
    for (; a != NULL && *steps <= MAX_EXPANSION_STEPS; a = a->next) {
        if (name_set_has(b, a->macro, steps))
            common = name_set_add(arena, common, a->macro, steps);
    }
    return common;
}

const struct name_set *name_set_all(struct arena *arena, const struct name_set *a, const struct name_set *b,
                                    size_t *steps)
{
    if (a == NULL)
        return b;
    for (; b != NULL && *steps <= MAX_EXPANSION_STEPS; b = b->next)
        a = name_set_add(arena, a, b->macro, steps);
    return a;
}
