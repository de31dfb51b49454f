/*
 * text_scan.c - scans a text for includes, conditions, definitions, and names that prevent an id.
 */
#include "core/hermetic/source_graph.h"

#include <string.h>

struct scan {
    struct source_graph *graph;
    struct graph_text *text;
    struct scanner scanner;
    size_t directives; /* so far, except #pragma */
    size_t depth;      /* of conditions */
    bool had_tokens;   /* other than directives, before the first of these or after the guard's end */
    bool guard_is_open;
    bool guard_is_broken; /* has an #else or text around it */
    bool guard_has_end;
    struct token guard; /* the name that the first directive tests */
    bool has_pragma_operator;
    bool in_condition;     /* on the line of an #if or #elif */
    bool had_line;         /* after a #line: the compiler's line number is unknown */
    const char *directive; /* where the current one begins */
};

static void set_problem(struct scan *scan, const char *at, const char *noun, const char *clause)
{
    graph_set_problem(scan->text, at, noun, clause);
}

/* Some compilers treat non-ASCII characters as white space: U+00A0 after __TIME__, or before a #define. */
static bool is_ascii(const struct token *token)
{
    for (size_t i = 0; i < token->size; ++i) {
        if ((unsigned char)token->start[i] >= 0x80)
            return false;
    }
    return true;
}

static const char *const odd_name = "a name of other characters than ASCII";

static void check_characters(struct scan *scan, const struct token *token)
{
    if (!is_ascii(token))
        set_problem(scan, token->start, odd_name, "which compilers read differently");
}

/* ---- special names ---- */

enum special {
    NOT_SPECIAL,
    SPECIAL_PRAGMA,
    SPECIAL_TIME,
    SPECIAL_FILE,
    SPECIAL_LEVEL,
    SPECIAL_HAS_INCLUDE,
    SPECIAL_UNFOLLOWED
};

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
    {"__INCLUDE_LEVEL__", 17, SPECIAL_LEVEL},
    {"_Pragma", 7, SPECIAL_PRAGMA},
    {"__pragma", 8, SPECIAL_PRAGMA},
    {"__has_include", 13, SPECIAL_HAS_INCLUDE},
    {"__has_include_next", 18, SPECIAL_UNFOLLOWED},
    {"__has_embed", 11, SPECIAL_UNFOLLOWED},
};

enum { SPECIAL_COUNT = sizeof(special_names) / sizeof(special_names[0]) };

static size_t find_special(const struct token *token)
{
    if (token->size < 7 || token->start[0] != '_')
        return SPECIAL_COUNT;
    for (size_t i = 0; i < SPECIAL_COUNT; ++i) {
        if (token->size == special_names[i].size && memcmp(token->start, special_names[i].name, token->size) == 0)
            return i;
    }
    return SPECIAL_COUNT;
}

static bool is_called(struct scan *scan)
{
    struct scanner ahead = scan->scanner;
    struct token token;
    scanner_next(&ahead, &token);
    return token_is(&token, "(");
}

/* ---- events ---- */

static size_t offset_of(const struct scan *scan, const char *at)
{
    return (size_t)(at - scan->text->clean.start);
}

/* Adds an event for the directive at scan->directive; its end is set when the line has been read. */
static struct text_event *add_event(struct scan *scan, enum event_kind kind)
{
    struct text_event *event = graph_add_event(scan->graph, scan->text, kind);
    if (event != NULL)
        event->start = event->end = offset_of(scan, scan->directive);
    return event;
}

/* Reads the file name at the scanner's position and moves past it. */
static bool read_header_name(struct scan *scan, struct text_event *event)
{
    struct scanner *scanner = &scan->scanner;
    scanner_skip_space(scanner);
    const char *from = scanner->at;
    if (from >= scanner->end || (*from != '<' && *from != '"'))
        return false;
    const char *line_end = memchr(from, '\n', (size_t)(scanner->end - from));
    const size_t left = (size_t)((line_end != NULL ? line_end : scanner->end) - from);
    const char *close = memchr(from + 1, *from == '<' ? '>' : '"', left - 1);
    if (close == NULL)
        return false;
    event->form = *from == '<' ? HEADER_ANGLE : HEADER_QUOTED;
    event->operand = from + 1;
    event->operand_size = (size_t)(close - from) - 1;
    scanner->at = close + 1;
    return true;
}

/* Reads #if __has_include("x.h"): the word and its parentheses are one event. */
static void read_has_include(struct scan *scan, const struct token *name)
{
    struct token token;
    if (!scan->in_condition) {
        set_problem(scan, name->start, special_names[find_special(name)].name, "outside of #if and #elif");
        return;
    }
    if (!is_called(scan))
        return; /* defined(__has_include) */
    scanner_next(&scan->scanner, &token);
    struct text_event *event = graph_add_event(scan->graph, scan->text, EVENT_HAS_INCLUDE);
    if (event == NULL)
        return;
    event->start = event->end = offset_of(scan, name->start);
    const bool is_plain = read_header_name(scan, event);
    scanner_next(&scan->scanner, &token);
    if (!is_plain || !token_is(&token, ")"))
        set_problem(scan, name->start, "__has_include", "of a name that is computed");
    event->end = offset_of(scan, scan->scanner.at);
}

static void check_name(struct scan *scan, const struct token *token)
{
    const size_t i = find_special(token);
    check_characters(scan, token);
    if (i == SPECIAL_COUNT)
        return;
    const char *name = special_names[i].name;
    switch (special_names[i].special) {
    case SPECIAL_TIME: set_problem(scan, token->start, name, "which differs from build to build"); break;
    case SPECIAL_FILE: scan->graph->names_matter = true; break;
    case SPECIAL_PRAGMA: scan->has_pragma_operator = true; break;
    case SPECIAL_LEVEL: set_problem(scan, token->start, name, "which depends on how texts are included"); break;
    case SPECIAL_HAS_INCLUDE: read_has_include(scan, token); break;
    case SPECIAL_UNFOLLOWED: set_problem(scan, token->start, name, "which is not followed"); break;
    case NOT_SPECIAL: break;
    }
}

/* ---- directives ---- */

/* Reads to the line's end and returns it. Sets *is_empty if only comments were left. */
static const char *read_rest(struct scan *scan, bool *is_empty)
{
    struct token token;
    *is_empty = true;
    for (scanner_next(&scan->scanner, &token); token.kind != TOKEN_NEWLINE && token.kind != TOKEN_END;
         scanner_next(&scan->scanner, &token)) {
        *is_empty = false;
        if (token.kind == TOKEN_IDENTIFIER)
            check_name(scan, &token);
    }
    return token.start;
}

/* Reads the operand of a computed include: all tokens up to the line's end, where the scanner stops. */
static void read_computed(struct scan *scan, struct text_event *event)
{
    struct token token;
    scanner_skip_space(&scan->scanner);
    const char *from = scan->scanner.at;
    const char *end = from;
    for (scanner_next(&scan->scanner, &token); token.kind != TOKEN_NEWLINE && token.kind != TOKEN_END;
         scanner_next(&scan->scanner, &token)) {
        if (token.kind == TOKEN_IDENTIFIER)
            check_name(scan, &token);
        end = token.start + token.size;
    }
    scan->scanner.at = token.start;
    event->form = HEADER_NONE;
    event->operand = from;
    event->operand_size = (size_t)(end - from);
}

static void read_include(struct scan *scan)
{
    struct text_event *event = add_event(scan, EVENT_INCLUDE);
    bool is_empty = true;
    if (event == NULL)
        return;
    if (!read_header_name(scan, event))
        read_computed(scan, event);
    event->end = offset_of(scan, read_rest(scan, &is_empty));
    if (!is_empty)
        event->gap = "has more behind the file name";
    else if (scan->had_line)
        event->gap = "stands behind a #line";
    event->stays_a_gap = event->gap != NULL;
}

static void read_define(struct scan *scan)
{
    struct token name;
    struct token token;
    scanner_next(&scan->scanner, &name);
    if (name.kind != TOKEN_IDENTIFIER) {
        scan->scanner.at = name.start;
        return;
    }
    check_characters(scan, &name);
    const bool is_guard = scan->directives == 2 && scan->guard.size == name.size && scan->depth == 1 &&
                          memcmp(scan->guard.start, name.start, name.size) == 0;
    if (is_guard)
        scan->guard_is_open = true;
    const char *from = name.start + name.size;
    const char *end = from;
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
    check_characters(scan, &name);
    if (name.kind == TOKEN_IDENTIFIER)
        macro_table_undefine(&scan->graph->macros, name.size, name.start);
    else
        scan->scanner.at = name.start;
}

/* #ifndef NAME, or #if !defined NAME, or #if !defined(NAME), alone on its line */
static struct token guard_name(struct scan *scan, const struct token *directive)
{
    const struct token none = {.size = 0};
    struct scanner ahead = scan->scanner;
    struct token token;
    struct token name;
    scanner_next(&ahead, &token);
    if (token_is(directive, "ifndef")) {
        name = token;
    } else if (token_is(directive, "if") && token_is(&token, "!")) {
        scanner_next(&ahead, &token);
        scanner_next(&ahead, &name);
        const bool has_parenthesis = token_is(&name, "(");
        if (!token_is(&token, "defined"))
            return none;
        if (has_parenthesis)
            scanner_next(&ahead, &name);
        if (has_parenthesis) {
            scanner_next(&ahead, &token);
            if (!token_is(&token, ")"))
                return none;
        }
    } else {
        return none;
    }
    scanner_next(&ahead, &token);
    return name.kind == TOKEN_IDENTIFIER && token.kind == TOKEN_NEWLINE ? name : none;
}

static void read_if(struct scan *scan, const struct token *directive)
{
    struct text_event *event = add_event(scan, EVENT_IF);
    if (event != NULL)
        event->is_guard = scan->directives == 1; /* reset if it is not a guard */
    if (scan->directives == 1 && !scan->had_tokens)
        scan->guard = guard_name(scan, directive);
    if (scan->depth == 0 && scan->directives != 1)
        scan->guard_is_broken = true;
    ++scan->depth;
}

static void read_else(struct scan *scan, const struct token *directive)
{
    (void)add_event(scan, EVENT_ELSE);
    if (scan->depth == 0)
        set_problem(scan, directive->start, "an #else or #elif", "without its #if");
    if (scan->depth == 1)
        scan->guard_is_broken = true;
}

static void read_endif(struct scan *scan, const struct token *directive)
{
    struct text_event *event = add_event(scan, EVENT_ENDIF);
    if (scan->depth == 0) {
        set_problem(scan, directive->start, "an #endif", "without its #if");
        return;
    }
    if (--scan->depth != 0 || event == NULL)
        return;
    scan->guard_is_broken = scan->guard_is_broken || scan->guard_has_end;
    scan->guard_has_end = true;
    event->is_guard = true;
    scan->had_tokens = false; /* counted again after the guard */
}

static void read_pragma(struct scan *scan)
{
    struct token first;
    struct token second;
    struct text_event *event = NULL;
    bool is_empty = true;
    scanner_next(&scan->scanner, &first);
    check_characters(scan, &first);
    struct scanner behind_first = scan->scanner;
    scanner_next(&scan->scanner, &second);
    const bool of_compiler = token_is(&first, "GCC") || token_is(&first, "clang");
    if (token_is(&first, "once")) {
        event = add_event(scan, EVENT_ONCE);
        scan->text->has_once = true;
    } else if (of_compiler && token_is(&second, "system_header")) {
        event = add_event(scan, EVENT_SYSTEM_HEADER);
    } else if (token_is(&first, "push_macro") || token_is(&first, "pop_macro")) {
        scan->graph->macros.are_hidden = true;
    } else if (token_is(&first, "include_alias") || (of_compiler && token_is(&second, "dependency")) ||
               (of_compiler && token_is(&second, "module"))) {
        set_problem(scan, first.start, "a #pragma", "that reads or renames files");
    }
    if (scan->depth == 0 && !token_is(&first, "once"))
        scan->guard_is_broken = true;
    scan->scanner = behind_first;
    if (first.kind == TOKEN_NEWLINE || first.kind == TOKEN_END)
        scan->scanner.at = first.start;
    const char *end = read_rest(scan, &is_empty);
    if (event != NULL)
        event->end = offset_of(scan, end);
}

static bool begins_with(const struct token *token, const char *beginning)
{
    const size_t length = strlen(beginning);
    return token->size >= length && memcmp(token->start, beginning, length) == 0;
}

static void read_gap(struct scan *scan, const struct token *name)
{
    struct text_event *event = add_event(scan, EVENT_GAP);
    bool is_empty = true;
    const char *end = read_rest(scan, &is_empty);
    if (event == NULL)
        return;
    event->operand = name->start;
    event->operand_size = name->size;
    event->gap = "is not followed";
    event->end = offset_of(scan, end);
}

static void read_condition(struct scan *scan, const struct token *name)
{
    bool is_empty = true;
    scan->in_condition = true;
    if (begins_with(name, "if"))
        read_if(scan, name);
    else if (token_is(name, "endif"))
        read_endif(scan, name);
    else
        read_else(scan, name);
    scan->directive = read_rest(scan, &is_empty);
    struct text_event *event = begins_with(name, "if") ? NULL : add_event(scan, EVENT_LINE_END);
    if (event == NULL)
        return;
    event->operand = name->start;
    event->operand_size = name->size;
    event->gap = scan->had_line ? "stands behind a #line, and what it ends before" : NULL;
}

static bool is_on_two_lines(const struct scan *scan, const char *from, const char *to)
{
    return text_line(&scan->text->clean, from) != text_line(&scan->text->clean, to);
}

static void read_directive(struct scan *scan, const struct token *hash)
{
    struct token name;
    bool is_empty = true;
    scan->directive = hash->start;
    scanner_next(&scan->scanner, &name);
    if (name.kind != TOKEN_IDENTIFIER) {
        scan->had_line = scan->had_line || name.kind == TOKEN_NUMBER;
        scan->guard_is_broken = scan->guard_is_broken || scan->depth == 0;
        scan->scanner.at = name.start;
        (void)read_rest(scan, &is_empty);
        return;
    }
    check_characters(scan, &name);
    if (token_is(&name, "pragma")) {
        read_pragma(scan);
        return;
    }
    ++scan->directives;
    if (scan->depth == 0 && (scan->directives > 1 || scan->had_tokens) && !begins_with(&name, "if"))
        scan->guard_is_broken = true;
    if (token_is(&name, "include")) {
        read_include(scan);
        return;
    }
    if (begins_with(&name, "include") || begins_with(&name, "import") || begins_with(&name, "embed")) {
        read_gap(scan, &name);
        return;
    }
    if (token_is(&name, "define"))
        read_define(scan);
    else if (token_is(&name, "undef"))
        read_undef(scan);
    else if (token_is(&name, "line"))
        scan->had_line = true;
    else if (begins_with(&name, "if") || begins_with(&name, "el") || token_is(&name, "endif"))
        read_condition(scan, &name);
    if (!scan->in_condition) {
        const char *end = read_rest(scan, &is_empty);
        if (token_is(&name, "warning") && is_on_two_lines(scan, hash->start, end))
            set_problem(scan, hash->start, "a #warning on two lines", "of which compilers quote either");
    }
    scan->in_condition = false;
}

/* ---- the whole text ---- */

static void read_all(struct scan *scan)
{
    bool at_line_start = true;
    struct token token;
    for (;;) {
        if (at_line_start) {
            const char *from = scan->scanner.at;
            scanner_skip_plain_lines(&scan->scanner);
            for (; scan->depth == 0 && !scan->had_tokens && from < scan->scanner.at; ++from)
                scan->had_tokens = (unsigned char)*from > ' ';
        }
        scanner_next(&scan->scanner, &token);
        if (token.kind == TOKEN_END || scan->text->problem != NULL)
            break;
        if (token.kind == TOKEN_HASH && at_line_start) {
            read_directive(scan, &token);
            continue; /* the line is read to its end */
        }
        if (token.kind == TOKEN_IDENTIFIER)
            check_name(scan, &token);
        at_line_start = token.kind == TOKEN_NEWLINE;
        scan->had_tokens = scan->had_tokens || (!at_line_start && scan->depth == 0);
    }
    if (scan->scanner.problem != NULL)
        set_problem(scan, scan->scanner.at, scan->scanner.problem, "which compilers read differently");
    if (scan->scanner.is_in_comment)
        set_problem(scan, NULL, "a comment", "that is not closed");
    if (scan->depth != 0)
        set_problem(scan, NULL, "an #if", "without its #endif");
}

static void conclude_guard(struct scan *scan)
{
    const bool is_guarded = scan->guard_is_open && scan->guard_has_end && !scan->guard_is_broken && !scan->had_tokens;
    if (is_guarded) {
        scan->text->guard = scan->guard.start;
        scan->text->guard_size = scan->guard.size;
        return;
    }
    for (struct text_event *event = scan->text->first_event; event != NULL; event = event->next)
        event->is_guard = false;
}

static bool text_has(const struct graph_text *text, const char *part)
{
    return memmem(text->bytes, text->size, part, strlen(part)) != NULL;
}

static bool has_pragma_word(size_t size, const char *text)
{
    static const char *const words[] = {"once",       "dependency", "module",       "include_alias",
                                        "push_macro", "pop_macro",  "system_header"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); ++i) {
        if (memmem(text, size, words[i], strlen(words[i])) != NULL)
            return true;
    }
    return false;
}

/* The words from which _Pragma("...") may make directives; its operand may come from a macro. */
static void check_pragma_operators(struct scan *scan)
{
    if (scan->has_pragma_operator && has_pragma_word(scan->text->size, scan->text->bytes))
        set_problem(scan, NULL, "_Pragma", "which may include a file or hide a macro");
}

/* Looks for .incbin and .include. Dots are rare, and memmem would take ten times as long. */
static void check_assembler(struct scan *scan)
{
    const char *end = scan->text->bytes + scan->text->size;
    bool has_include = false;
    for (const char *p = scan->text->bytes; (p = memchr(p, '.', (size_t)(end - p))) != NULL; ++p) {
        const size_t left = (size_t)(end - p);
        has_include = has_include || (left >= 8 && memcmp(p, ".include", 8) == 0);
        if (left >= 7 && memcmp(p, ".incbin", 7) == 0)
            set_problem(scan, NULL, ".incbin", "by which an assembler reads files");
    }
    if (has_include && text_has(scan->text, "asm"))
        set_problem(scan, NULL, ".include", "by which an assembler reads files");
}

/* NVRTC accepts a byte order mark at the beginning of a source, but not of a header; clang accepts both. */
static bool has_odd_mark(const struct source_graph *graph, const struct graph_text *text)
{
    return graph->input->rules->current_directory == INGOT_CURRENT_NEVER && text->clean.raw != text->bytes;
}

void text_scan(struct source_graph *graph, struct graph_text *text)
{
    struct scan scan = {.graph = graph, .text = text};
    const char *at = NULL;
    const char *problem = text_clean(&graph->arena, &text->clean, text->size, text->bytes, &text->problem_line);
    if (problem != NULL) {
        text->problem = problem;
        text->problem_clause = "which compilers read differently";
        return;
    }
    if (text->origin != TEXT_SOURCE && has_odd_mark(graph, text))
        set_problem(&scan, NULL, "a byte order mark", "which the compiler may not take");
    check_assembler(&scan);
    if (graph->brings_assert && text_has(text, "assert"))
        graph->names_matter = true;
    scanner_init(&scan.scanner, &text->clean, text->clean.start, graph->cplusplus);
    read_all(&scan);
    check_pragma_operators(&scan);
    conclude_guard(&scan);
    if (text->problem == NULL && leftover_check(graph, text, &at))
        set_problem(&scan, at, "what may be an including directive", "which was not replaced");
}

bool text_scan_definition(struct source_graph *graph, size_t size, const char *value, const char **name)
{
    const struct clean_text clean = {.start = value, .size = size};
    struct scanner scanner;
    struct token token;
    scanner_init(&scanner, &clean, value, false);
    for (scanner_next(&scanner, &token); token.kind != TOKEN_END; scanner_next(&scanner, &token)) {
        const size_t special = token.kind == TOKEN_IDENTIFIER ? find_special(&token) : SPECIAL_COUNT;
        if (token.kind == TOKEN_IDENTIFIER && !is_ascii(&token)) {
            *name = odd_name;
            return false;
        }
        if (special == SPECIAL_COUNT)
            continue;
        if (special_names[special].special == SPECIAL_PRAGMA && !has_pragma_word(size, value))
            continue;
        if (special_names[special].special == SPECIAL_FILE) {
            graph->names_matter = true;
            continue;
        }
        *name = special_names[special].name;
        return false;
    }
    return true;
}
