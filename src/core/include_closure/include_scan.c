/*
 * include_scan.c - one text read for its includes, its definitions, and names that make it unkeyable.
 */
#include "core/include_closure/include_graph.h"

#include <string.h>

struct scan {
    struct include_graph *graph;
    struct graph_text *text;
    struct scanner scanner;
    size_t directives;  /* so far, #pragma apart */
    size_t depth;       /* of conditions */
    size_t guard_depth; /* 1 inside of the file's include guard, which is no condition */
    struct token guard; /* the name that the first directive asked for */
    bool in_condition;  /* on the line of an #if or #elif */
};

static void set_problem(struct scan *scan, const char *at, const char *noun, const char *clause)
{
    if (scan->text->problem != NULL)
        return;
    scan->text->problem = noun;
    scan->text->problem_clause = clause;
    scan->text->problem_line = at != NULL ? text_line(&scan->text->clean, at) : 0;
}

/* ---- special names ---- */

enum special { NOT_SPECIAL, SPECIAL_TIME, SPECIAL_FILE, SPECIAL_HAS_INCLUDE, SPECIAL_UNFOLLOWED };

static const struct {
    const char *name;
    size_t size;
    enum special special;
} special_names[] = {
    {"__DATE__", 8, SPECIAL_TIME},
    {"__TIME__", 8, SPECIAL_TIME},
    {"__TIMESTAMP__", 13, SPECIAL_TIME},
    {"__FILE__", 8, SPECIAL_FILE},
    {"__BASE_FILE__", 13, SPECIAL_FILE},
    {"__FILE_NAME__", 13, SPECIAL_FILE},
    {"__builtin_FILE", 14, SPECIAL_FILE},
    {"__builtin_FILE_NAME", 19, SPECIAL_FILE},
    {"__builtin_source_location", 25, SPECIAL_FILE},
    {"__has_include", 13, SPECIAL_HAS_INCLUDE},
    {"__has_include_next", 18, SPECIAL_UNFOLLOWED},
    {"__has_embed", 11, SPECIAL_UNFOLLOWED},
    {"include_alias", 13, SPECIAL_UNFOLLOWED}, /* of #pragma only */
};

static size_t find_special(const struct token *token)
{
    const size_t count = sizeof(special_names) / sizeof(special_names[0]);
    const char first = token->start[0];
    if (token->size < 8 || (first != '_' && first != 'i'))
        return count;
    for (size_t i = 0; i < count; ++i) {
        if (token->size == special_names[i].size && memcmp(token->start, special_names[i].name, token->size) == 0)
            return i;
    }
    return count;
}

static void read_header_operand(struct scan *scan, bool in_parentheses, bool conditional);

static bool is_called(struct scan *scan)
{
    struct scanner ahead = scan->scanner;
    struct token token;
    scanner_next(&ahead, &token);
    return token_is(&token, "(");
}

static void check_name(struct scan *scan, const struct token *token)
{
    const size_t i = find_special(token);
    if (i == sizeof(special_names) / sizeof(special_names[0]))
        return;
    const char *name = special_names[i].name;
    switch (special_names[i].special) {
    case SPECIAL_TIME: set_problem(scan, token->start, name, "which differs from build to build"); break;
    case SPECIAL_FILE: scan->graph->names_matter = true; break;
    case SPECIAL_HAS_INCLUDE:
        if (scan->in_condition && is_called(scan)) {
            struct token open;
            scanner_next(&scan->scanner, &open);
            read_header_operand(scan, true, true);
        } else if (!scan->in_condition) {
            set_problem(scan, token->start, name, "which is not followed outside of #if and #elif");
        }
        break;
    case SPECIAL_UNFOLLOWED:
        if (is_called(scan))
            set_problem(scan, token->start, name, "which is not followed");
        break;
    case NOT_SPECIAL: break;
    }
}

/* ---- directives ---- */

/* Up to the end of the directive, or of the parentheses of __has_include. */
static const char *operand_end(struct scan *scan, bool in_parentheses)
{
    size_t depth = 0;
    struct token token;
    const char *end = scan->scanner.at;
    for (;;) {
        struct scanner before = scan->scanner;
        scanner_next(&scan->scanner, &token);
        const bool closed = in_parentheses && token_is(&token, ")") && depth == 0;
        if (token.kind == TOKEN_END || token.kind == TOKEN_NEWLINE || closed) {
            scan->scanner = before;
            return end;
        }
        if (token_is(&token, "("))
            ++depth;
        else if (token_is(&token, ")"))
            --depth;
        if (token.kind == TOKEN_IDENTIFIER && !token_is(&token, "__has_include"))
            check_name(scan, &token);
        end = token.start + token.size;
    }
}

static void read_header_operand(struct scan *scan, bool in_parentheses, bool conditional)
{
    struct scanner *scanner = &scan->scanner;
    scanner_skip_space(scanner);
    const char *from = scanner->at;
    if (from >= scanner->end || *from == '\n')
        return; /* an error for every compiler, where it is active */
    const char *line_end = memchr(from, '\n', (size_t)(scanner->end - from));
    const size_t left = (size_t)((line_end != NULL ? line_end : scanner->end) - from);
    const char closing = *from == '<' ? '>' : *from;
    const char *close = *from == '<' || *from == '"' ? memchr(from + 1, closing, left - 1) : NULL;
    struct include_edge *edge;
    if (close != NULL) {
        const enum header_kind kind = *from == '<' ? HEADER_ANGLE : HEADER_QUOTED;
        edge = graph_add_edge(scan->graph, scan->text, kind, (size_t)(close - from) - 1, from + 1);
        scanner->at = close + 1;
    } else {
        const char *end = operand_end(scan, in_parentheses);
        edge = graph_add_edge(scan->graph, scan->text, HEADER_NONE, (size_t)(end - from), from);
    }
    if (edge == NULL)
        return;
    edge->at = from;
    edge->conditional = conditional;
}

static void read_rest(struct scan *scan)
{
    struct token token;
    do {
        scanner_next(&scan->scanner, &token);
        if (token.kind == TOKEN_IDENTIFIER)
            check_name(scan, &token);
    } while (token.kind != TOKEN_NEWLINE && token.kind != TOKEN_END);
}

static void read_define(struct scan *scan)
{
    struct token name;
    scanner_next(&scan->scanner, &name);
    if (name.kind != TOKEN_IDENTIFIER) {
        scan->scanner.at = name.start;
        return;
    }
    if (scan->directives == 2 && scan->guard.size == name.size && scan->depth == 1 &&
        memcmp(scan->guard.start, name.start, name.size) == 0)
        scan->guard_depth = 1;
    const char *from = name.start + name.size;
    const char *end = from;
    struct token token;
    for (scanner_next(&scan->scanner, &token); token.kind != TOKEN_NEWLINE && token.kind != TOKEN_END;
         scanner_next(&scan->scanner, &token)) {
        if (token.kind == TOKEN_IDENTIFIER)
            check_name(scan, &token);
        end = token.start + token.size;
    }
    scan->scanner.at = token.start;
    macro_table_define(&scan->graph->macros, name.size, name.start, (size_t)(end - from), from);
}

static void read_undef(struct scan *scan)
{
    struct token name;
    scanner_next(&scan->scanner, &name);
    if (name.kind == TOKEN_IDENTIFIER)
        macro_table_undefine(&scan->graph->macros, name.size, name.start);
    else
        scan->scanner.at = name.start;
}

static void read_condition(struct scan *scan, const struct token *directive)
{
    if (token_is(directive, "endif")) {
        scan->depth -= scan->depth != 0 ? 1 : 0;
    } else if (directive->start[0] == 'i') {
        ++scan->depth;
        struct scanner ahead = scan->scanner;
        if (scan->directives == 1 && token_is(directive, "ifndef"))
            scanner_next(&ahead, &scan->guard);
    }
    if (scan->depth == 0 || (scan->depth == 1 && directive->start[0] == 'e' && !token_is(directive, "endif")))
        scan->guard_depth = 0;
    scan->in_condition = true;
}

static bool begins_with(const struct token *token, const char *beginning)
{
    const size_t length = strlen(beginning);
    return token->size >= length && memcmp(token->start, beginning, length) == 0;
}

static void read_directive(struct scan *scan)
{
    struct token name;
    scanner_next(&scan->scanner, &name);
    if (name.kind != TOKEN_IDENTIFIER) {
        scan->scanner.at = name.start;
        return;
    }
    if (!token_is(&name, "pragma"))
        ++scan->directives;
    if (token_is(&name, "include") || token_is(&name, "import"))
        read_header_operand(scan, false, scan->depth > scan->guard_depth);
    else if (token_is(&name, "include_next") || token_is(&name, "embed"))
        set_problem(scan, name.start, token_is(&name, "embed") ? "#embed" : "#include_next", "which is not followed");
    else if (token_is(&name, "define"))
        read_define(scan);
    else if (token_is(&name, "undef"))
        read_undef(scan);
    else if (begins_with(&name, "if") || begins_with(&name, "el") || token_is(&name, "endif"))
        read_condition(scan, &name);
    read_rest(scan);
    scan->in_condition = false;
}

static void read_all(struct scan *scan)
{
    bool at_line_start = true;
    struct token token;
    for (;;) {
        if (at_line_start)
            scanner_skip_plain_lines(&scan->scanner);
        scanner_next(&scan->scanner, &token);
        if (token.kind == TOKEN_END || scan->text->problem != NULL)
            break;
        if (token.kind == TOKEN_HASH && at_line_start) {
            read_directive(scan);
            continue; /* the line is read to its end */
        }
        if (token.kind == TOKEN_IDENTIFIER)
            check_name(scan, &token);
        at_line_start = token.kind == TOKEN_NEWLINE;
    }
    if (scan->scanner.problem != NULL)
        set_problem(scan, scan->scanner.at, scan->scanner.problem, "which compilers read differently");
}

static bool text_has(const struct graph_text *text, const char *part)
{
    return memmem(text->bytes, text->size, part, strlen(part)) != NULL;
}

void include_scan(struct include_graph *graph, struct graph_text *text)
{
    static const char *const assembler_words[] = {"incbin", ".include"}; /* the second only where there is asm */

    struct scan scan = {.graph = graph, .text = text};
    const char *problem = text_clean(&graph->arena, &text->clean, text->size, text->bytes, &text->problem_line);
    if (problem != NULL) {
        text->problem = problem;
        text->problem_clause = "which compilers read differently";
        return;
    }
    for (size_t i = 0; i < sizeof(assembler_words) / sizeof(assembler_words[0]); ++i) {
        if (text_has(text, assembler_words[i]) && (i == 0 || text_has(text, "asm"))) {
            set_problem(&scan, NULL, assembler_words[i], "by which an assembler reads files");
            return;
        }
    }
    if (graph->brings_assert && text_has(text, "assert"))
        graph->names_matter = true;
    scanner_init(&scan.scanner, &text->clean, text->clean.start, graph->cplusplus);
    read_all(&scan);
}

void include_scan_option(struct include_graph *graph, struct graph_text *text, const char *value)
{
    struct scan scan = {
        .graph = graph,
        .text = text,
    };
    const struct clean_text clean = {.start = value, .size = strlen(value)};
    struct token token;
    scanner_init(&scan.scanner, &clean, value, false);
    for (scanner_next(&scan.scanner, &token); token.kind != TOKEN_END; scanner_next(&scan.scanner, &token)) {
        const size_t special = token.kind == TOKEN_IDENTIFIER ? find_special(&token) : SIZE_MAX;
        if (special >= sizeof(special_names) / sizeof(special_names[0]))
            continue;
        if (special_names[special].special == SPECIAL_FILE)
            graph->names_matter = true;
        else
            set_problem(&scan, NULL, special_names[special].name, "which no id can stand for");
    }
}
