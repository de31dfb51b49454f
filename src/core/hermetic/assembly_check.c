/*
 * assembly_check.c - chooses how the compiler shows that a program reaches no asm statement.
 *
 * An assembler reads files, whose names may be composed or escaped. Most texts with asm do not use it. So the compiler
 * refuses the keyword (inline_walk.c), in one of two ways, both also where ## composes it. As a macro whose expansion
 * is an error, it may stand in the replacement of a macro that nothing expands. But such a macro answers a question
 * whether the keyword is defined. So if a directive other than a #define has the keyword, or a macro may bring a
 * `defined` whose operand could be the keyword, the name is poisoned instead: then the compiler also refuses those
 * questions, and definitions in code that it does not skip.
 */
#include "core/hermetic/source_graph.h"

#include <string.h>

/* A text that is searched. */
struct search {
    struct source_graph *graph;
    struct graph_text *text; /* NULL: the definition of an option */
    struct scanner scanner;
    bool is_asked_for;              /* true if something may ask whether the keyword is defined */
    const struct graph_text *place; /* a text with the keyword; NULL: none so far */
    size_t line;
    bool is_in_definition; /* true if only definitions have had it so far */
};

/* Remembers a place of the keyword. One outside of definitions replaces one inside. */
static void note_place(struct search *search, const struct token *token, bool is_in_definition)
{
    if (!name_is_asm(token) || search->text == NULL ||
        (search->place != NULL && (is_in_definition || !search->is_in_definition)))
        return;
    search->place = search->text;
    search->line = text_line(&search->text->facts.clean, token->start);
    search->is_in_definition = is_in_definition;
}

/* Reads the name, the parameters and the replacement of a definition. */
static void read_definition(struct search *search, struct token *token)
{
    search->is_asked_for = search->is_asked_for || name_is_asm(token);
    scanner_next(&search->scanner, token);
    while (!token_ends_line(token)) {
        note_place(search, token, true);
        if (token_is(token, "defined")) {
            /* The operand must be a whole name that stands in the replacement. */
            scanner_next(&search->scanner, token);
            if (token_is(token, "("))
                scanner_next(&search->scanner, token);
            const bool is_name = token->kind == TOKEN_IDENTIFIER && !name_is_asm(token);
            if (is_name)
                scanner_next(&search->scanner, token);
            if (!is_name || token->kind == TOKEN_HASH_HASH)
                search->is_asked_for = true;
        } else {
            scanner_next(&search->scanner, token);
        }
    }
}

static void search_text(struct search *search)
{
    struct token token;
    bool is_line_start = true;
    bool is_pragma = false; /* true after _Pragma and its parenthesis */
    scanner_init(&search->scanner, &search->text->facts.clean, search->text->facts.clean.start,
                 search->graph->cplusplus);
    for (scanner_next(&search->scanner, &token); token.kind != TOKEN_END; scanner_next(&search->scanner, &token)) {
        if (is_line_start && token.kind == TOKEN_HASH) {
            scanner_next(&search->scanner, &token);
            if (token_is(&token, "define")) {
                scanner_next(&search->scanner, &token);
                read_definition(search, &token);
            } else if (token_is(&token, "error") || token_is(&token, "warning") || token_is(&token, "include") ||
                       token_is(&token, "include_next") || token_is(&token, "import") || token_is(&token, "embed")) {
                scanner_skip_line(&search->scanner, &token);
            }
            for (; !token_ends_line(&token); scanner_next(&search->scanner, &token))
                search->is_asked_for = search->is_asked_for || name_is_asm(&token);
        }
        note_place(search, &token, false);
        if (is_pragma && token.kind == TOKEN_STRING && memmem(token.start, token.size, "asm", 3) != NULL)
            search->is_asked_for = true;
        is_pragma = token_is(&token, "_Pragma") || (is_pragma && token_is(&token, "("));
        is_line_start = token.kind == TOKEN_NEWLINE;
    }
}

void graph_check_assembly(struct source_graph *graph)
{
    static const char *const keywords[] = {"asm", "__asm", "__asm__"};
    struct search search = {.graph = graph};
    bool has_asm = false;
    if (!graph->input->rules->assembler_reads_files)
        return;
    for (const struct graph_text *text = graph->first; text != NULL; text = text->next)
        has_asm = has_asm || (graph_text_is_written(text) &&
                              memmem(text->facts.clean.start, text->facts.clean.size, "asm", 3) != NULL);
    bool may_arise = has_asm;
    for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]) && graph->has_paste; ++i)
        may_arise = may_arise || graph_may_compose(graph, keywords[i]);
    if (may_arise) {
        search.is_asked_for = graph->has_paste && graph_may_compose(graph, "defined");
        for (struct graph_text *text = graph->first; text != NULL; text = text->next) {
            search.text = text;
            if (graph_text_is_written(text))
                search_text(&search);
            if (text->size != 0 && memmem(text->bytes, text->size, HERMETIC_NO_ASM, strlen(HERMETIC_NO_ASM)) != NULL)
                search.is_asked_for = true;
        }
        search.text = NULL;
        for (const struct definition *each = graph->definitions; each != NULL; each = each->next) {
            struct token token;
            scanner_init(&search.scanner, &each->text, each->text.start, false);
            scanner_next(&search.scanner, &token);
            read_definition(&search, &token);
        }
        /* for a build that fails */
        static const char reached[] = "the compiler reached asm, whose assembler may read files";
        const struct graph_text *place = search.place;
        graph->assembly = place == NULL ? arena_print(&graph->arena, "%s; macros compose it", reached)
                                        : arena_print(&graph->arena, "%s; %s line %zu has it", reached,
                                                      place->path[0] != 0 ? place->path : "the source", search.line);
    }
    if (graph->has_paste || has_asm)
        graph->refusal = search.is_asked_for ? ASM_IS_POISONED : ASM_IS_A_MACRO;
}
