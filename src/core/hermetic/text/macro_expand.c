/*
 * macro_expand.c - expands macros as compilers do, and finds the file name in the result; see macro_expand.h.
 */
#include "core/hermetic/text/macro_expand.h"

#include <string.h>

enum { MAX_TOKENS = 20000, MAX_DEPTH = 200, MAX_PARAMETERS = 128 };

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

struct macro_body {
    bool function_like;
    bool variadic;
    const char *unsupported;
    struct macro_token *parameters; /* their names */
    size_t parameter_count;
    struct macro_token *tokens;
};

/* ---- tokens ---- */

/* Appends a token to the list that ends at *last. Returns the new token, or NULL if out of memory. */
static struct macro_token *macro_token_add(struct arena *arena, struct macro_token ***last, const struct token *token,
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

static struct macro_token *macro_tokens_read(struct arena *arena, struct scanner *scanner)
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

/* Returns the size of the tokens' text, and writes the text to `out` unless that is NULL. If `escape` is true, adds
 * a backslash before quotes and backslashes in literals. */
static size_t macro_tokens_spell(const struct macro_token *list, bool escape, char *out)
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

static void add_parameter(struct arena *arena, struct macro_body *body, struct macro_token ***last,
                          const struct token *name)
{
    if (macro_token_add(arena, last, name, NULL) != NULL)
        ++body->parameter_count;
}

static void read_parameters(struct arena *arena, struct macro_body *body, struct scanner *scanner)
{
    struct macro_token **last = &body->parameters;
    bool after_name = false;
    struct token token;
    scanner_next(scanner, &token); /* the opening parenthesis */
    for (scanner_next(scanner, &token); !token_is(&token, ")"); scanner_next(scanner, &token)) {
        if (token.kind == TOKEN_END || token.kind == TOKEN_NEWLINE || body->parameter_count > MAX_PARAMETERS) {
            body->unsupported = "its parameter list is not closed or too long";
            return;
        }
        if (token.kind == TOKEN_IDENTIFIER)
            add_parameter(arena, body, &last, &token);
        else if (token_is(&token, ".") && after_name)
            body->unsupported = "its parameter list is not standard C";
        else if (token_is(&token, "."))
            body->variadic = true;
        after_name = token.kind == TOKEN_IDENTIFIER;
    }
    static const struct token variable_part = {TOKEN_IDENTIFIER, false, "__VA_ARGS__", sizeof("__VA_ARGS__") - 1};
    if (body->variadic)
        add_parameter(arena, body, &last, &variable_part);
}

/* Returns the parsed definition, which the first call makes in the arena. Returns NULL if out of memory. */
static struct macro_body *macro_body_of(struct arena *arena, struct macro_definition *definition)
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
        body->unsupported = scanner.problem;
    for (const struct macro_token *at = body->tokens; at != NULL && body->unsupported == NULL; at = at->next) {
        if (token_is(&at->token, "__VA_OPT__"))
            body->unsupported = "it uses __VA_OPT__";
        else if (body->variadic && token_is(&at->token, ",") && at->next != NULL &&
                 at->next->token.kind == TOKEN_HASH_HASH)
            body->unsupported = "it joins a comma to its arguments";
    }
    definition->body = body;
    return body;
}

static bool macro_parameter_index(const struct macro_body *body, const struct token *token, size_t *index)
{
    *index = 0;
    if (token->kind != TOKEN_IDENTIFIER)
        return false;
    for (const struct macro_token *at = body->parameters; at != NULL; at = at->next, ++*index) {
        if (at->token.size == token->size && memcmp(at->token.start, token->start, token->size) == 0)
            return true;
    }
    return false;
}

/* ---- sets of names ----
 *
 * These functions add the number of compared names to *steps. If the arena is out of memory, or the steps of all
 * expansions are used up, the last three return an incomplete set. */

static bool name_set_has(const struct name_set *set, const struct macro *macro, size_t *steps)
{
    for (; set != NULL && set->macro != macro; set = set->next)
        ++*steps;
    return set != NULL;
}

static const struct name_set *name_set_add(struct arena *arena, const struct name_set *set, const struct macro *macro,
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

static const struct name_set *name_set_common(struct arena *arena, const struct name_set *a, const struct name_set *b,
                                              size_t *steps)
{
    const struct name_set *common = NULL;
    for (; a != NULL && *steps <= MAX_EXPANSION_STEPS; a = a->next) {
        if (name_set_has(b, a->macro, steps))
            common = name_set_add(arena, common, a->macro, steps);
    }
    return common;
}

static const struct name_set *name_set_all(struct arena *arena, const struct name_set *a, const struct name_set *b,
                                           size_t *steps)
{
    if (a == NULL)
        return b;
    for (; b != NULL && *steps <= MAX_EXPANSION_STEPS; b = b->next)
        a = name_set_add(arena, a, b->macro, steps);
    return a;
}

/* ---- an expansion ---- */

struct argument {
    struct macro_token *tokens;
    struct macro_token *expanded;
    bool is_expanded;
};

struct expansion {
    struct expanded_include *result;
    const struct macro_table *table;
    struct arena *scratch;
    size_t tokens_made;
    size_t *steps; /* steps of all of the program's expansions so far */
    size_t depth;
    bool dead; /* true if the expansion was given up, because a compiler would report an error */
};

static struct macro_token *expand_tokens(struct expansion *expansion, struct macro_token *list);

/* ---- doubts and checks ---- */

static void note_doubt(struct expansion *expansion, const char *why, size_t size, const char *name)
{
    if (expansion->result->doubt != NULL)
        return;
    expansion->result->doubt = why;
    expansion->result->doubt_name = name;
    expansion->result->doubt_size = size;
}

static void add_check(struct expansion *expansion, size_t size, const char *name, bool is_defined)
{
    const struct name_check **last = &expansion->result->checks;
    for (; *last != NULL; last = (const struct name_check **)&(*last)->next) {
        ++*expansion->steps;
        if ((*last)->name_size == size && memcmp((*last)->name, name, size) == 0)
            return;
    }
    struct name_check *check = arena_take(expansion->table->arena, sizeof(*check));
    if (check == NULL)
        return;
    /* copied, because a pasted name is in the scratch arena */
    check->name = arena_copy(expansion->table->arena, size, name);
    check->name_size = size;
    check->is_defined = is_defined;
    *last = check;
}

static bool has_capital(size_t size, const char *name)
{
    for (size_t i = 0; i < size; ++i) {
        if (name[i] >= 'A' && name[i] <= 'Z')
            return true;
    }
    return false;
}

/* Returns the definition that is active if the name is defined. Returns NULL if the name must not be expanded, or if
 * there is a doubt. Names without a capital letter are doubtful, because compilers use macros to rename built-in
 * functions (PoCL: max), and such a definition may follow or replace the one in the texts. */
static struct macro_definition *choose_definition(struct expansion *expansion, const struct macro *macro, size_t size,
                                                  const char *name)
{
    if (macro_may_be_predefined(macro, size, name)) {
        note_doubt(expansion, "a compiler may define the macro", size, name);
    } else if (macro == NULL || (macro->definition == NULL && !macro->is_ambiguous)) {
        add_check(expansion, size, name, false);
        return NULL;
    } else if (macro->is_ambiguous || macro->definition == NULL) {
        note_doubt(expansion, "several definitions are possible of the macro", size, name);
    } else if (!has_capital(size, name)) {
        note_doubt(expansion, "a compiler may have another definition of the macro", size, name);
    } else {
        return macro->definition;
    }
    return NULL;
}

static void make_token(struct expansion *expansion, struct macro_token ***last, const struct token *token,
                       const struct name_set *hidden)
{
    *expansion->steps += 1 + token->size;
    if (++expansion->tokens_made > MAX_TOKENS)
        note_doubt(expansion, "it grows too long", token->size, token->start);
    else
        macro_token_add(expansion->scratch, last, token, hidden);
}

static bool is_expansion_stopped(const struct expansion *expansion)
{
    return expansion->dead || expansion->result->doubt != NULL || *expansion->steps > MAX_EXPANSION_STEPS ||
           expansion->scratch->failed || expansion->table->arena->failed;
}

/* ---- substitution ---- */

static struct token make_string_token(struct expansion *expansion, const struct macro_token *list, bool space_before)
{
    struct token token = {TOKEN_STRING, space_before, "\"\"", 2};
    const size_t size = macro_tokens_spell(list, true, NULL);
    *expansion->steps += size;
    char *text = is_expansion_stopped(expansion) ? NULL : arena_take(expansion->scratch, size + 3);
    if (text == NULL)
        return token;
    text[0] = '"';
    macro_tokens_spell(list, true, text + 1);
    text[size + 1] = '"';
    token.start = text;
    token.size = size + 2;
    return token;
}

/* Joins the token `left` with another one. Compilers report an error unless the result is a single token. */
static void paste_tokens(struct expansion *expansion, struct macro_token *left, const struct token *right)
{
    const size_t size = left->token.size + right->size;
    *expansion->steps += size;
    char *text = is_expansion_stopped(expansion) ? NULL : arena_take(expansion->scratch, size + 1);
    if (text == NULL)
        return;
    memcpy(text, left->token.start, left->token.size);
    memcpy(text + left->token.size, right->start, right->size);
    const struct clean_text clean = {.start = text, .size = size};
    struct scanner scanner;
    struct token token;
    scanner_init(&scanner, &clean, text, false);
    scanner_next(&scanner, &token);
    if (token.size != size) {
        note_doubt(expansion, "it pastes tokens that do not form one name or number", size, text);
        return;
    }
    token.space_before = left->token.space_before;
    left->token = token;
}

struct output {
    struct macro_token *first;
    struct macro_token **last;
    struct macro_token *newest;
    bool paste_next;
};

static void put_token(struct expansion *expansion, struct output *output, const struct token *token,
                      const struct name_set *hidden)
{
    if (output->paste_next && output->newest != NULL) {
        paste_tokens(expansion, output->newest, token);
    } else {
        struct macro_token **place = output->last;
        make_token(expansion, &output->last, token, hidden);
        output->newest = *place;
    }
    output->paste_next = false;
}

static void put_token_list(struct expansion *expansion, struct output *output, const struct macro_token *list,
                           bool space_before)
{
    for (const struct macro_token *at = list; at != NULL && !is_expansion_stopped(expansion); at = at->next) {
        struct token token = at->token;
        if (at == list)
            token.space_before = space_before;
        put_token(expansion, output, &token, at->hidden);
    }
}

static const struct macro_token *expanded_argument(struct expansion *expansion, struct argument *argument)
{
    if (!argument->is_expanded) {
        struct macro_token *copy = NULL;
        struct macro_token **last = &copy;
        for (const struct macro_token *at = argument->tokens; at != NULL; at = at->next)
            make_token(expansion, &last, &at->token, at->hidden);
        argument->expanded = expand_tokens(expansion, copy);
        argument->is_expanded = true;
    }
    return argument->expanded;
}

static struct macro_token *substitute_arguments(struct expansion *expansion, const struct macro_body *body,
                                                struct argument *arguments, const struct token *name,
                                                const struct name_set *hidden)
{
    struct output output = {.last = &output.first};
    size_t index;
    for (const struct macro_token *at = body->tokens; at != NULL && !is_expansion_stopped(expansion); at = at->next) {
        const struct macro_token *next = at->next;
        const bool pasted = next != NULL && next->token.kind == TOKEN_HASH_HASH;
        *expansion->steps += 1 + body->parameter_count;
        if (body->function_like && at->token.kind == TOKEN_HASH) {
            if (next == NULL || !macro_parameter_index(body, &next->token, &index)) {
                expansion->dead = true;
                break;
            }
            const struct token token = make_string_token(expansion, arguments[index].tokens, at->token.space_before);
            put_token(expansion, &output, &token, NULL);
            at = next;
        } else if (at->token.kind == TOKEN_HASH_HASH) {
            output.paste_next = true;
        } else if (macro_parameter_index(body, &at->token, &index)) {
            const bool raw = pasted || output.paste_next;
            const struct macro_token *list =
                raw ? arguments[index].tokens : expanded_argument(expansion, &arguments[index]);
            if (raw && list == NULL)
                note_doubt(expansion, "it pastes an empty argument", name->size, name->start);
            put_token_list(expansion, &output, list, at->token.space_before);
        } else {
            put_token(expansion, &output, &at->token, NULL);
        }
    }
    for (struct macro_token *at = output.first; at != NULL; at = at->next)
        at->hidden = name_set_all(expansion->scratch, at->hidden, hidden, expansion->steps);
    if (output.first != NULL)
        output.first->token.space_before = name->space_before;
    return output.first;
}

/* ---- calls ---- */

/* Reads the arguments of a call, from the opening parenthesis on. Returns the closing parenthesis, or NULL if there
 * is none. */
static struct macro_token *read_arguments(struct expansion *expansion, const struct macro_body *body,
                                          struct argument *arguments, struct macro_token *open)
{
    size_t index = 0;
    size_t depth = 0;
    struct macro_token **last = &arguments[0].tokens;
    for (struct macro_token *at = open->next; at != NULL && !is_expansion_stopped(expansion); at = at->next) {
        if (token_is(&at->token, ")") && depth-- == 0) {
            const size_t given = arguments[0].tokens == NULL && index == 0 ? body->parameter_count : index + 1;
            const bool enough =
                given >= body->parameter_count || (body->variadic && given + 1 >= body->parameter_count);
            if (!enough && body->parameter_count != 0)
                expansion->dead = true;
            return at;
        }
        if (token_is(&at->token, "("))
            ++depth;
        const bool in_variable_part = body->variadic && index + 1 == body->parameter_count;
        if (token_is(&at->token, ",") && depth == 0 && !in_variable_part) {
            expansion->dead = ++index >= body->parameter_count;
            last = &arguments[expansion->dead ? 0 : index].tokens;
            continue;
        }
        if (body->parameter_count == 0)
            expansion->dead = true;
        else
            make_token(expansion, &last, &at->token, at->hidden);
    }
    expansion->dead = true;
    return NULL;
}

/* Returns what replaces the macro call at `at`, followed by the tokens after the call. Returns NULL and sets
 * *is_replaced to false if it is not replaced. */
static struct macro_token *replace_macro_call(struct expansion *expansion, const struct macro *macro,
                                              struct macro_definition *definition, struct macro_token *at,
                                              bool *is_replaced)
{
    *is_replaced = false;
    struct macro_body *body = macro_body_of(expansion->table->arena, definition);
    if (body == NULL)
        return NULL;
    struct macro_token *last = at;
    struct argument *arguments = NULL;
    const struct name_set *hidden = at->hidden;
    if (body->function_like) {
        if (at->next == NULL || !token_is(&at->next->token, "("))
            return NULL;
        *expansion->steps += body->parameter_count;
        arguments = arena_take(expansion->scratch, (body->parameter_count + 1) * sizeof(*arguments));
        last = arguments != NULL ? read_arguments(expansion, body, arguments, at->next) : NULL;
        if (last == NULL)
            return NULL;
        hidden = name_set_common(expansion->scratch, hidden, last->hidden, expansion->steps);
    }
    if (body->unsupported != NULL) {
        note_doubt(expansion, body->unsupported, macro->name.size, macro->name.text);
        return NULL;
    }
    *is_replaced = true;
    hidden = name_set_add(expansion->scratch, hidden, macro, expansion->steps);
    struct macro_token *result = substitute_arguments(expansion, body, arguments, &at->token, hidden);
    struct macro_token **end = &result;
    while (*end != NULL)
        end = &(*end)->next;
    *end = last->next;
    if (end == &result && result != NULL)
        result->token.space_before |= at->token.space_before;
    return result;
}

static struct macro_token *expand_tokens(struct expansion *expansion, struct macro_token *list)
{
    struct macro_token *first = NULL;
    struct macro_token **last = &first;
    if (++expansion->depth > MAX_DEPTH)
        note_doubt(expansion, "it is nested too deeply", 0, "");
    while (list != NULL && !is_expansion_stopped(expansion)) {
        bool is_replaced = false;
        struct macro_token *rest = NULL;
        if (list->token.kind == TOKEN_IDENTIFIER) {
            const struct token *name = &list->token;
            const struct macro *macro = macro_table_find(expansion->table, name->size, name->start);
            struct macro_definition *definition = macro == NULL || !name_set_has(list->hidden, macro, expansion->steps)
                                                      ? choose_definition(expansion, macro, name->size, name->start)
                                                      : NULL;
            if (definition != NULL)
                rest = replace_macro_call(expansion, macro, definition, list, &is_replaced);
            if (is_replaced)
                add_check(expansion, macro->name.size, macro->name.text, true);
        }
        if (is_replaced) {
            list = rest;
        } else {
            *last = list;
            last = &list->next;
            list = list->next;
        }
    }
    *last = NULL;
    --expansion->depth;
    return first;
}

/* ---- header names ---- */

static void read_angle_name(struct arena *scratch, struct macro_token *list, struct header_name *name)
{
    struct macro_token *close = list->next;
    struct macro_token *before = list;
    while (close != NULL && !token_is(&close->token, ">")) {
        before = close;
        close = close->next;
    }
    if (close == NULL || before == list)
        return;
    before->next = NULL;
    const bool leading_space = list->next->token.space_before;
    const size_t size = macro_tokens_spell(list->next, false, NULL) + (leading_space ? 1 : 0);
    char *text = arena_take(scratch, size + 1);
    if (text == NULL)
        return;
    text[0] = ' ';
    macro_tokens_spell(list->next, false, text + (leading_space ? 1 : 0));
    *name = (struct header_name){HEADER_ANGLE, text, size};
}

static void read_header_name(struct expansion *expansion, struct macro_token *list)
{
    struct header_name *name = &expansion->result->name;
    if (list == NULL)
        return;
    if (list->token.kind == TOKEN_STRING && list->token.start[0] == '"') {
        const size_t size = list->token.size - 2;
        const char *text = arena_copy(expansion->scratch, size, list->token.start + 1);
        if (text != NULL)
            *name = (struct header_name){HEADER_QUOTED, text, size};
        if (list->next != NULL)
            note_doubt(expansion, "more than a file name comes out of", list->token.size, list->token.start);
    } else if (token_is(&list->token, "<")) {
        read_angle_name(expansion->scratch, list, name);
    }
    if (memchr(name->text, '\\', name->size) != NULL)
        note_doubt(expansion, "a backslash is in the file name", name->size, name->text);
}

void macro_expand(struct expanded_include *result, const struct macro_table *table, struct arena *scratch, size_t size,
                  const char *operand, size_t *steps)
{
    const struct clean_text text = {.start = operand, .size = size};
    struct scanner scanner;
    struct expansion expansion = {.result = result, .table = table, .scratch = scratch, .steps = steps};

    arena_reset(scratch);
    *steps += size;
    *result = (struct expanded_include){.name = {HEADER_NONE, "", 0}};
    scanner_init(&scanner, &text, text.start, false);
    struct macro_token *list = macro_tokens_read(scratch, &scanner);
    if (scanner.problem != NULL)
        note_doubt(&expansion, scanner.problem, size, operand);
    list = expand_tokens(&expansion, list);
    if (expansion.dead)
        note_doubt(&expansion, "a compiler reports an error for", size, operand);
    else
        read_header_name(&expansion, list);
    if (result->name.kind == HEADER_NONE)
        note_doubt(&expansion, "no file name comes out of", size, operand);
}
