/*
 * macro_body.h - parses macro definitions into parameters and tokens, and defines the tokens of an expansion.
 */
#ifndef INGOT_CORE_HERMETIC_TEXT_MACRO_BODY_H
#define INGOT_CORE_HERMETIC_TEXT_MACRO_BODY_H

#include "core/hermetic/text/macro_table.h"

/* Limit of the work for all computed includes of a program. A step is a byte or token that is made, or a comparison
 * of two names. For comparison, hashcat's programs take at most 12,594 steps. */
enum { MAX_EXPANSION_STEPS = 50000000 };

/* A set of macro names, as a linked list. Lists may share their ends. */
struct name_set {
    const struct name_set *next;
    const struct macro *macro;
};

struct macro_token {
    struct macro_token *next;
    struct token token;
    const struct name_set *hidden; /* macros whose expansion produced this token; it is not expanded by them again */
};

struct parameter {
    struct parameter *next;
    struct token name;
};

struct macro_body {
    bool function_like;
    bool variadic;
    const char *unsupported;
    struct parameter *parameters;
    size_t parameter_count;
    struct macro_token *tokens;
};

/* Appends a token to the list that ends at *last. Returns the new token, or NULL if out of memory. */
struct macro_token *macro_token_add(struct arena *arena, struct macro_token ***last, const struct token *token,
                                    const struct name_set *hidden);
struct macro_token *macro_tokens_read(struct arena *arena, struct scanner *scanner);
/* Returns the size of the tokens' text, and writes the text to `out` unless that is NULL. If `escape` is true, adds
 * a backslash before quotes and backslashes in literals. */
size_t macro_tokens_spell(const struct macro_token *list, bool escape, char *out);

/* Returns the parsed definition, which the first call makes in the arena. Returns NULL if out of memory. */
struct macro_body *macro_body_of(struct arena *arena, struct macro_definition *definition);
bool macro_parameter_index(const struct macro_body *body, const struct token *token, size_t *index);

/* These functions add the number of compared names to *steps. If the arena is out of memory, or the steps of all
 * expansions are used up, the last three return an incomplete set. */
bool name_set_has(const struct name_set *set, const struct macro *macro, size_t *steps);
const struct name_set *name_set_add(struct arena *arena, const struct name_set *set, const struct macro *macro,
                                    size_t *steps);
const struct name_set *name_set_common(struct arena *arena, const struct name_set *a, const struct name_set *b,
                                       size_t *steps);
const struct name_set *name_set_all(struct arena *arena, const struct name_set *a, const struct name_set *b,
                                    size_t *steps);

#endif
