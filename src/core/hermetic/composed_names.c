/*
 * composed_names.c - considers special names that macros may put together from parts; see source_graph.h.
 *
 * Only ## makes a name from parts. Each part is a name, because special names have no digits. It stands in a definition
 * of a text or an option, or in the arguments of a macro that uses ##, itself or through others. If these lack the
 * parts of a special name, macros cannot compose that name. Whether they do compose it is not determined. A call that
 * does not end in its text, or a macro with ## that is passed by its name, makes every name of all texts a possible
 * part.
 */
#include "core/hermetic/source_graph.h"

#include <string.h>

enum { MAX_NAME = 32, MAX_NAMES = 24 };

/* Names that compilers may predefine macros for, so that a text need not contain them: the ends of numbers. */
static const char *const predefined_parts[] = {"L", "U", "UL", "LL", "ULL"};

/* A special name (one such as __TIME__, which prevents an id or changes it), and the parts of it that were found. */
struct composition {
    const char *name;
    size_t size;
    uint32_t ends[MAX_NAME]; /* bit j of ends[i] is set if the part from i up to j was found */
};

static void note_part(struct composition *composition, size_t size, const char *part)
{
    if (size >= composition->size)
        return;
    for (size_t i = 0; i + size <= composition->size; ++i) {
        if (memcmp(composition->name + i, part, size) == 0)
            composition->ends[i] |= UINT32_C(1) << (i + size);
    }
}

static bool is_composable(const struct composition *composition)
{
    uint32_t reached = 1; /* bit i is set if parts make the first i characters */
    for (size_t i = 0; i < composition->size; ++i) {
        if ((reached >> i & 1) != 0)
            reached |= composition->ends[i];
    }
    return (reached >> composition->size & 1) != 0;
}

/* ---- which names may be parts ---- */

/* A search of all texts for parts. */
struct part_search {
    /* The macros that use ##, and those whose definitions name one of these. A caller can give some of them arguments:
     * those that have parameters, and those that may expand to the name of one that has. */
    struct macro_table names;
    struct macro_table callable;
    size_t count;                     /* of names in both tables */
    bool is_lost;                     /* true if calls cannot be followed, so every name may be a part */
    struct composition *compositions; /* NULL: only look for these macros */
    size_t composition_count;
    struct scanner scanner;
};

static void note_name(const struct part_search *search, const struct token *token)
{
    for (size_t i = 0; token->kind == TOKEN_IDENTIFIER && i < search->composition_count; ++i)
        note_part(&search->compositions[i], token->size, token->start);
}

static bool has_name(const struct macro_table *table, const struct token *token)
{
    return token->kind == TOKEN_IDENTIFIER && macro_table_find(table, token->size, token->start) != NULL;
}

static void add_paster_name(struct part_search *search, struct macro_table *table, const struct token *name)
{
    if (name->kind != TOKEN_IDENTIFIER || has_name(table, name))
        return;
    (void)macro_table_define(table, macro_name_of(name->size, name->start), 0, "");
    ++search->count;
}

/* Reads a definition, up to the end of the line. Each name in it may be a part of a special name. `token` is the
 * macro's name. */
static void read_definition(struct part_search *search, struct token *token)
{
    const struct token name = *token;
    struct token before = *token;
    size_t depth = 0;
    bool pastes = false;
    bool is_callable = false;
    note_name(search, token);
    scanner_next(&search->scanner, token);
    is_callable = token_is(token, "(") && !token->space_before;
    for (; !token_ends_line(token); scanner_next(&search->scanner, token)) {
        note_name(search, token);
        pastes = pastes || token->kind == TOKEN_HASH_HASH || has_name(&search->names, token);
        is_callable = is_callable ||
                      (before.start != name.start && has_name(&search->callable, &before) && !token_is(token, "("));
        depth += token_is(token, "(");
        search->is_lost = search->is_lost || (depth == 0 && token_is(token, ")"));
        depth -= depth != 0 && token_is(token, ")");
        before = *token;
    }
    is_callable = is_callable || (before.start != name.start && has_name(&search->callable, &before));
    search->is_lost = search->is_lost || depth != 0; /* a call may get its parentheses from this macro */
    if (pastes)
        add_paster_name(search, &search->names, &name);
    if (pastes && is_callable)
        add_paster_name(search, &search->callable, &name);
}

/* Reads the name of a paster, and its arguments if it has any. All names in these may be parts. If they do not end in
 * this text, or if a paster that needs arguments has none here, any name may be one. */
static void read_call(struct part_search *search, struct token *token)
{
    const bool needs_arguments = has_name(&search->callable, token);
    size_t depth = 0;
    do {
        scanner_next(&search->scanner, token);
    } while (token->kind == TOKEN_NEWLINE && needs_arguments);
    if (!needs_arguments)
        return;
    const bool is_call = token_is(token, "(");
    while (is_call && token->kind != TOKEN_END) {
        note_name(search, token);
        depth += token_is(token, "(");
        depth -= token_is(token, ")");
        scanner_next(&search->scanner, token);
        if (depth == 0)
            return;
    }
    search->is_lost = true;
}

static void search_text(struct part_search *search, const struct clean_text *text, bool cplusplus)
{
    struct token token;
    bool is_line_start = true;
    scanner_init(&search->scanner, text, text->start, cplusplus);
    scanner_next(&search->scanner, &token);
    for (; search->is_lost && token.kind != TOKEN_END; scanner_next(&search->scanner, &token))
        note_name(search, &token);
    while (token.kind != TOKEN_END) {
        const bool was_line_start = is_line_start;
        is_line_start = token.kind == TOKEN_NEWLINE;
        if (was_line_start && token.kind == TOKEN_HASH) {
            scanner_next(&search->scanner, &token);
            if (token_is(&token, "define")) {
                scanner_next(&search->scanner, &token);
                read_definition(search, &token);
            } else if (token_is(&token, "undef") || token_is(&token, "ifdef") || token_is(&token, "ifndef")) {
                scanner_skip_line(&search->scanner, &token);
            }
        } else if (token_is(&token, "defined")) { /* its operand calls nothing */
            scanner_next(&search->scanner, &token);
            if (token_is(&token, "("))
                scanner_next(&search->scanner, &token);
            if (token.kind == TOKEN_IDENTIFIER)
                scanner_next(&search->scanner, &token);
        } else if (search->compositions != NULL && has_name(&search->names, &token)) {
            read_call(search, &token);
        } else {
            scanner_next(&search->scanner, &token);
        }
    }
}

static void search_all(const struct source_graph *graph, struct part_search *search)
{
    struct token token;
    for (const struct graph_text *text = graph->first; text != NULL; text = text->next) {
        if (graph_text_is_written(text))
            search_text(search, &text->facts.clean, graph->cplusplus);
    }
    for (const struct definition *definition = graph->definitions; definition != NULL; definition = definition->next) {
        scanner_init(&search->scanner, &definition->text, definition->text.start, false);
        scanner_next(&search->scanner, &token);
        read_definition(search, &token);
    }
}

/* Finds which of the names macros may compose. A part is a name in a definition, or in the arguments of a macro that
 * uses ## itself or through others. */
static void find_compositions(struct source_graph *graph, size_t count, struct composition *compositions)
{
    struct part_search search = {.count = 0};
    size_t before;
    macro_table_init(&search.names, &graph->scratch);
    macro_table_init(&search.callable, &graph->scratch);
    do { /* a definition may name a paster that is defined later */
        before = search.count;
        search_all(graph, &search);
    } while (search.count != before);
    search.compositions = compositions;
    search.composition_count = count;
    for (size_t i = 0; i < count; ++i) {
        for (size_t j = 0; j < sizeof(predefined_parts) / sizeof(predefined_parts[0]); ++j)
            note_part(&compositions[i], strlen(predefined_parts[j]), predefined_parts[j]);
    }
    search_all(graph, &search);
    if (search.is_lost || graph->scratch.failed)
        search_all(graph, &search);
}

bool graph_may_compose(struct source_graph *graph, const char *name)
{
    struct composition composition = {.name = name, .size = strlen(name)};
    find_compositions(graph, 1, &composition);
    return is_composable(&composition);
}

void graph_check_composed_names(struct source_graph *graph)
{
    if (graph->limit != NULL || graph->arena.failed)
        return;
    graph_check_assembly(graph);
    if (!graph->has_paste || graph->limit != NULL)
        return;
    /* the message of assert contains the name of the file */
    if (graph->brings_assert && !graph->names_matter && graph_may_compose(graph, "assert"))
        graph->names_matter = true;
    if (graph->has_beginning) {
        struct composition compositions[MAX_NAMES];
        enum special kinds[MAX_NAMES];
        size_t count = 0;
        const char *name;
        for (size_t i = 0; count < MAX_NAMES && (name = name_special_at(i, &kinds[count])) != NULL; ++i) {
            /* Compilers know __pragma only in Microsoft's mode, whose options make a program native. Its parts are in
             * CUDA's own headers. */
            if (strcmp(name, "__pragma") == 0)
                continue;
            compositions[count++] = (struct composition){.name = name, .size = strlen(name)};
        }
        find_compositions(graph, count, compositions);
        for (size_t i = 0; i < count && graph->limit == NULL; ++i) {
            if (!is_composable(&compositions[i]))
                continue;
            if (kinds[i] == SPECIAL_FILE)
                graph->names_matter = true;
            else
                graph->limit =
                    arena_print(&graph->arena, "macros may compose a name from parts: %s", compositions[i].name);
        }
    }
}
