/*
 * composed_names.c - considers special names that macros may put together from parts; see source_graph.h.
 *
 * Only ## makes a name from parts. Each part is a name in a text or in an option, because special names have no digits.
 * So if the texts and options lack ##, or lack the parts of a special name, macros cannot compose that name. Whether
 * they do compose it is not determined: the parts may be anywhere.
 *
 * An asm statement lets an assembler read files, whose names may be composed or escaped. Most texts with asm do not use
 * it, so the compiler checks that: inline_walk.c writes a #pragma GCC poison, which makes the build fail if the
 * compiler reaches the keyword, even if it is composed. Definitions of options precede the pragma, so these must not
 * have it.
 */
#include "core/hermetic/source_graph.h"

#include <string.h>

enum { MAX_NAME = 32 };

/* Names that compilers may predefine macros for, so that a text need not contain them: the ends of numbers. */
static const char *const predefined_parts[] = {"L", "U", "UL", "LL", "ULL"};

/* A special name, and which of its parts were found. */
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

static void note_names(struct composition *composition, const struct clean_text *text, bool cplusplus)
{
    struct scanner scanner;
    struct token token;
    scanner_init(&scanner, text, text->start, cplusplus);
    for (scanner_next(&scanner, &token); token.kind != TOKEN_END; scanner_next(&scanner, &token)) {
        if (token.kind == TOKEN_IDENTIFIER)
            note_part(composition, token.size, token.start);
    }
}

/* True for a text that the compiler gets. Others are gaps, or prevent an id. */
static bool is_written(const struct graph_text *text)
{
    return !text->absent && text->problem == NULL;
}

static bool may_compose(const struct source_graph *graph, const char *name)
{
    struct composition composition = {.name = name, .size = strlen(name)};
    for (size_t i = 0; i < sizeof(predefined_parts) / sizeof(predefined_parts[0]); ++i)
        note_part(&composition, strlen(predefined_parts[i]), predefined_parts[i]);
    for (const struct graph_text *text = graph->first; text != NULL; text = text->next) {
        if (is_written(text))
            note_names(&composition, &text->clean, graph->cplusplus);
    }
    for (const struct definition *definition = graph->definitions; definition != NULL; definition = definition->next)
        note_names(&composition, &definition->text, false);
    return is_composable(&composition);
}

static void set_limit(struct source_graph *graph, const char *name)
{
    static const char reason[] = "macros may compose a name from parts: ";
    char *text = arena_take(&graph->arena, sizeof(reason) + strlen(name));
    if (text == NULL)
        return;
    memcpy(text, reason, sizeof(reason));
    strcat(text, name);
    graph->limit = text;
}

static void check_special_names(struct source_graph *graph)
{
    enum special special = NOT_SPECIAL;
    const char *name;
    for (size_t i = 0; (name = name_special_at(i, &special)) != NULL && graph->limit == NULL; ++i) {
        if ((special == SPECIAL_FILE && graph->names_matter) || !may_compose(graph, name))
            continue;
        if (special == SPECIAL_FILE)
            graph->names_matter = true;
        else
            set_limit(graph, name);
    }
}

static bool has_asm(const struct source_graph *graph)
{
    for (const struct graph_text *text = graph->first; text != NULL; text = text->next) {
        if (is_written(text) && memmem(text->clean.start, text->clean.size, "asm", 3) != NULL)
            return true;
    }
    return false;
}

void graph_check_composed_names(struct source_graph *graph)
{
    if (graph->limit != NULL || graph->arena.failed)
        return;
    graph->refuses_asm = graph->input->rules->assembler_reads_files && (graph->has_paste || has_asm(graph));
    if (!graph->has_paste)
        return;
    if (graph->brings_assert && !graph->names_matter && may_compose(graph, "assert"))
        graph->names_matter = true;
    if (graph->has_beginning)
        check_special_names(graph);
}
