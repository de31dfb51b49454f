/*
 * text_scan.c - scans a text for includes, conditions, definitions, and names that prevent an id; see source_graph.h.
 */
#include "core/hermetic/source_graph.h"

#include <string.h>

struct scan {
    const struct source_graph *graph; /* determines how texts are scanned */
    struct arena *arena;
    struct text_scan *text;
    struct scanner scanner;
    size_t directives; /* number of directives so far, not counting #pragma */
    size_t depth;      /* number of open conditions */
    /* true if there were tokens outside of directives, before the first directive or after the end of the guard */
    bool had_tokens;
    bool guard_is_open;
    bool guard_is_broken; /* true if the guard has an #else, or if there is other text around it */
    bool guard_has_end;
    struct token guard;    /* the name that the condition in the first directive tests */
    bool in_condition;     /* true on the line of a condition's directive */
    bool had_line;         /* true after a #line, because the compiler's line number is then unknown */
    const char *directive; /* start of the current directive */
};

static void set_problem(struct scan *scan, const char *at, const char *noun, const char *clause)
{
    text_set_problem(&scan->text->facts, at, noun, clause);
}

static void check_characters(struct scan *scan, const struct token *token)
{
    if (!name_is_ascii(token))
        set_problem(scan, token->start, name_not_ascii, "which compilers read differently");
}

/* ---- events ---- */

static size_t offset_of(const struct scan *scan, const char *at)
{
    return (size_t)(at - scan->text->facts.clean.start);
}

/* Adds an event. Its end is set after the rest of it has been read. */
static struct text_event *add_event_at(struct scan *scan, enum event_kind kind, const char *at)
{
    struct text_event *event = arena_take(scan->arena, sizeof(*event));
    if (event == NULL)
        return NULL;
    event->kind = kind;
    event->start = event->end = offset_of(scan, at);
    *scan->text->last_event = event;
    scan->text->last_event = &event->next;
    ++scan->text->event_count;
    return event;
}

/* Adds an event for the directive at scan->directive. */
static struct text_event *add_event(struct scan *scan, enum event_kind kind)
{
    return add_event_at(scan, kind, scan->directive);
}

/* Reads the file name at the scanner's position, and moves past it. Returns false if there is none. */
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

/* Reads the rest of a __has_include("x.h") in a condition. The word and its parentheses are one event. */
static void read_has_include(struct scan *scan, const struct token *name)
{
    struct token token;
    if (!scan->in_condition) {
        set_problem(scan, name->start, "__has_include", "outside of #if and #elif");
        return;
    }
    struct scanner ahead = scan->scanner;
    scanner_next(&ahead, &token);
    if (!token_is(&token, "("))
        return; /* it is not called, as in defined(__has_include) */
    scanner_next(&scan->scanner, &token);
    struct text_event *event = add_event_at(scan, EVENT_HAS_INCLUDE, name->start);
    if (event == NULL)
        return;
    const bool is_plain = read_header_name(scan, event);
    scanner_next(&scan->scanner, &token);
    if (!is_plain || !token_is(&token, ")"))
        set_problem(scan, name->start, "__has_include", "of a name that is computed");
    event->end = offset_of(scan, scan->scanner.at);
}

static void check_name(struct scan *scan, const struct token *token)
{
    const char *name = NULL;
    check_characters(scan, token);
    scan->text->has_beginning = scan->text->has_beginning || name_is_beginning(token->size, token->start);
    switch (name_special(token, &name)) {
    case SPECIAL_TIME: set_problem(scan, token->start, name, "which differs from build to build"); break;
    case SPECIAL_FILE: scan->text->names_matter = true; break;
    case SPECIAL_PRAGMA:
        if (!pragma_is_harmless(&scan->scanner))
            set_problem(scan, token->start, name, "which may include a file or hide a macro");
        break;
    case SPECIAL_LEVEL: set_problem(scan, token->start, name, "which depends on how texts are included"); break;
    case SPECIAL_HAS_INCLUDE: read_has_include(scan, token); break;
    case SPECIAL_UNFOLLOWED: set_problem(scan, token->start, name, "which is not followed"); break;
    case NOT_SPECIAL: break;
    }
}

/* ---- directives ---- */

/* Checks whether the names up to the end of the line make the program impossible to cache. The scanner stops there.
 * Returns the end of the last token, or the place where it began if there are only comments. */
static const char *read_line(struct scan *scan)
{
    struct token token;
    const char *end = scan->scanner.at;
    for (scanner_next(&scan->scanner, &token); !token_ends_line(&token) && scan->text->facts.problem == NULL;
         scanner_next(&scan->scanner, &token)) {
        if (token.kind == TOKEN_IDENTIFIER)
            check_name(scan, &token);
        end = token.start + token.size;
    }
    scan->scanner.at = token.start;
    return end;
}

static void read_include(struct scan *scan)
{
    struct text_event *event = add_event(scan, EVENT_INCLUDE);
    if (event == NULL)
        return;
    if (!read_header_name(scan, event)) {
        scanner_skip_space(&scan->scanner);
        event->form = HEADER_NONE;
        event->operand = scan->scanner.at;
        event->operand_size = (size_t)(read_line(scan) - event->operand);
    }
    const char *name_end = scan->scanner.at;
    if (read_line(scan) != name_end)
        event->gap = "has more text after the file name";
    else if (scan->had_line)
        event->gap = "follows a #line";
    event->stays_a_gap = event->gap != NULL;
    event->end = offset_of(scan, scan->scanner.at);
}

/* Reads a #define or an #undef. */
static void read_macro(struct scan *scan, bool is_defined)
{
    struct token name;
    scanner_next(&scan->scanner, &name);
    if (name.kind != TOKEN_IDENTIFIER) {
        scan->scanner.at = name.start;
        return;
    }
    check_characters(scan, &name);
    if (is_defined && scan->directives == 2 && scan->guard.size == name.size && scan->depth == 1 &&
        memcmp(scan->guard.start, name.start, name.size) == 0)
        scan->guard_is_open = true;
    const char *from = name.start + name.size;
    struct scanned_macro *macro = arena_take(scan->arena, sizeof(*macro));
    if (macro == NULL)
        return;
    *macro = (struct scanned_macro){NULL, macro_name_of(name.size, name.start), is_defined ? from : NULL,
                                    is_defined ? (size_t)(read_line(scan) - from) : 0};
    *scan->text->last_macro = macro;
    scan->text->last_macro = &macro->next;
}

/* Returns the name that #ifndef NAME, #if !defined NAME or #if !defined(NAME) tests, if nothing else is on the line. */
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
        if (has_parenthesis) {
            scanner_next(&ahead, &name);
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

static void read_pragma(struct scan *scan)
{
    struct token first;
    struct token second;
    struct text_event *event = NULL;
    scanner_next(&scan->scanner, &first);
    check_characters(scan, &first);
    struct scanner behind_first = scan->scanner;
    scanner_next(&scan->scanner, &second);
    const bool of_compiler = token_is(&first, "GCC") || token_is(&first, "clang");
    if (token_is(&first, "once")) {
        event = add_event(scan, EVENT_ONCE);
        scan->text->facts.has_once = true;
    } else if (of_compiler && token_is(&second, "system_header")) {
        event = add_event(scan, EVENT_SYSTEM_HEADER);
    } else if (token_is(&first, "push_macro") || token_is(&first, "pop_macro")) {
        scan->text->hides_macros = true;
    } else if (token_is(&first, "include_alias") || (of_compiler && token_is(&second, "dependency")) ||
               (of_compiler && token_is(&second, "module"))) {
        set_problem(scan, first.start, "a #pragma", "that reads or renames files");
    }
    if (scan->depth == 0 && !token_is(&first, "once"))
        scan->guard_is_broken = true;
    scan->scanner = behind_first;
    if (token_ends_line(&first))
        scan->scanner.at = first.start;
    (void)read_line(scan);
    if (event != NULL)
        event->end = offset_of(scan, scan->scanner.at);
}

static bool has_token_prefix(const struct token *token, const char *beginning)
{
    const size_t length = strlen(beginning);
    return token->size >= length && memcmp(token->start, beginning, length) == 0;
}

static void read_condition(struct scan *scan, const struct token *name)
{
    scan->in_condition = true;
    if (has_token_prefix(name, "if")) {
        struct text_event *event = add_event(scan, EVENT_IF);
        if (event != NULL)
            event->is_guard = scan->directives == 1; /* reset later if the condition turns out not to be a guard */
        if (scan->directives == 1 && !scan->had_tokens)
            scan->guard = guard_name(scan, name);
        if (scan->depth == 0 && scan->directives != 1)
            scan->guard_is_broken = true;
        ++scan->depth;
    } else if (token_is(name, "endif")) {
        struct text_event *event = add_event(scan, EVENT_ENDIF);
        if (scan->depth == 0) {
            set_problem(scan, name->start, "an #endif", "without its #if");
        } else if (--scan->depth == 0 && event != NULL) {
            scan->guard_is_broken = scan->guard_is_broken || scan->guard_has_end;
            scan->guard_has_end = true;
            event->is_guard = true;
            scan->had_tokens = false; /* set again by tokens after the guard */
        }
    } else {
        (void)add_event(scan, EVENT_ELSE);
        if (scan->depth == 0)
            set_problem(scan, name->start, "an #else or #elif", "without its #if");
        if (scan->depth == 1)
            scan->guard_is_broken = true;
    }
    (void)read_line(scan);
    scan->in_condition = false;
    scan->directive = scan->scanner.at;
    struct text_event *event = has_token_prefix(name, "if") ? NULL : add_event(scan, EVENT_LINE_END);
    if (event == NULL)
        return;
    event->operand = name->start;
    event->operand_size = name->size;
    event->gap = scan->had_line ? "ends a branch that begins before a #line" : NULL;
}

/* Reads a directive. The scanner stops at the end of its line. */
static void read_directive(struct scan *scan, const struct token *hash)
{
    struct token name;
    scan->directive = hash->start;
    scanner_next(&scan->scanner, &name);
    if (name.kind != TOKEN_IDENTIFIER) {
        scan->had_line = scan->had_line || name.kind == TOKEN_NUMBER;
        scan->guard_is_broken = scan->guard_is_broken || scan->depth == 0;
        scan->scanner.at = name.start;
        (void)read_line(scan);
        return;
    }
    check_characters(scan, &name);
    if (token_is(&name, "pragma")) {
        read_pragma(scan);
        return;
    }
    ++scan->directives;
    if (scan->depth == 0 && (scan->directives > 1 || scan->had_tokens) && !has_token_prefix(&name, "if"))
        scan->guard_is_broken = true;
    if (token_is(&name, "include")) {
        read_include(scan);
    } else if (has_token_prefix(&name, "include") || has_token_prefix(&name, "import") ||
               has_token_prefix(&name, "embed")) {
        struct text_event *event = add_event(scan, EVENT_GAP);
        (void)read_line(scan);
        if (event != NULL) {
            event->operand = name.start;
            event->operand_size = name.size;
            event->gap = "is not followed";
            event->end = offset_of(scan, scan->scanner.at);
        }
    } else if (token_is(&name, "define") || token_is(&name, "undef")) {
        read_macro(scan, token_is(&name, "define"));
    } else if (token_is(&name, "line")) {
        scan->had_line = true;
    } else if (has_token_prefix(&name, "if") || has_token_prefix(&name, "el") || token_is(&name, "endif")) {
        read_condition(scan, &name);
    }
    (void)read_line(scan);
    if (token_is(&name, "warning") && text_is_on_two_lines(&scan->text->facts.clean, hash->start, scan->scanner.at))
        set_problem(scan, hash->start, "a #warning on two lines", "which compilers quote differently");
}

/* ---- the whole text ---- */

static void scan_all_tokens(struct scan *scan)
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
        if (token.kind == TOKEN_END || scan->text->facts.problem != NULL)
            break;
        if (token.kind == TOKEN_HASH && at_line_start) {
            read_directive(scan, &token);
            at_line_start = false;
            continue;
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

static bool text_has(const struct scan *scan, const char *part)
{
    return memmem(scan->text->facts.clean.start, scan->text->facts.clean.size, part, strlen(part)) != NULL;
}

/* True if the compiler may reject a byte order mark in a header. NVRTC accepts one at the beginning of a source but
 * not of a header, and clang accepts both. */
static bool may_reject_byte_order_mark(const struct source_graph *graph)
{
    return graph->input->rules->current_directory == INGOT_CURRENT_NEVER;
}

uint64_t graph_reading(const struct source_graph *graph)
{
    return (graph->cplusplus ? 1u : 0u) | (graph->brings_assert ? 2u : 0u) |
           (may_reject_byte_order_mark(graph) ? 4u : 0u);
}

static const struct text_scan *make_scan(const struct source_graph *graph, struct arena *arena,
                                         const struct graph_text *source)
{
    struct text_scan *text = arena_take(arena, sizeof(*text));
    const char *at = NULL;
    if (text == NULL)
        return NULL;
    text->last_event = &text->first_event;
    text->last_macro = &text->first_macro;
    struct scan scan = {.graph = graph, .arena = arena, .text = text};
    struct text_facts *facts = &text->facts;
    facts->problem = text_clean(arena, &facts->clean, source->size, source->bytes, &facts->problem_line);
    if (facts->problem != NULL) {
        facts->problem_clause = "which compilers read differently";
        return arena->failed ? NULL : text;
    }
    if (source->origin != TEXT_SOURCE && may_reject_byte_order_mark(graph) && facts->clean.raw != source->bytes)
        set_problem(&scan, NULL, "a byte order mark", "which the compiler may not accept");
    /* Looks for .incbin and .include. Searches for dots with memchr, because they are rare and memmem would take ten
     * times as long. */
    const char *end = scan.text->facts.clean.start + scan.text->facts.clean.size;
    bool has_include = false;
    for (const char *p = scan.text->facts.clean.start; (p = memchr(p, '.', (size_t)(end - p))) != NULL; ++p) {
        const size_t left = (size_t)(end - p);
        has_include = has_include || (left >= 8 && memcmp(p, ".include", 8) == 0);
        if (left >= 7 && memcmp(p, ".incbin", 7) == 0)
            set_problem(&scan, NULL, ".incbin", "with which an assembler reads files");
    }
    if (has_include && text_has(&scan, "asm"))
        set_problem(&scan, NULL, ".include", "with which an assembler reads files");
    text->names_matter = graph->brings_assert && text_has(&scan, "assert");
    scanner_init(&scan.scanner, &facts->clean, facts->clean.start, graph->cplusplus);
    scan.scanner.steps = &text->steps;
    scan_all_tokens(&scan);
    text->has_paste = scan.scanner.has_paste;
    if (scan.guard_is_open && scan.guard_has_end && !scan.guard_is_broken && !scan.had_tokens) {
        facts->guard = scan.guard.start;
        facts->guard_size = scan.guard.size;
    }
    for (struct text_event *event = text->first_event; event != NULL; event = event->next)
        event->is_guard = event->is_guard && facts->guard != NULL;
    if (facts->problem == NULL && leftover_check(graph, text, &at))
        set_problem(&scan, at, "what may be an include directive", "which was not replaced");
    return arena->failed ? NULL : text;
}

/* ---- adding a scan to a graph ---- */

void graph_scan(struct source_graph *graph, struct graph_text *text)
{
    struct known_file *file = text->file;
    const struct text_scan *scan = file != NULL ? file->scan : NULL;
    if (scan == NULL) {
        scan = make_scan(graph, file != NULL ? &file->arena : &graph->arena, text);
        if (scan == NULL) {
            graph->status = INGOT_OUT_OF_MEMORY;
            return;
        }
        if (file != NULL) {
            file->scan = scan;
            known_file_share(graph->witness->files, file);
        }
    }
    /* Adds what the scan found. Events are copied, because their targets depend on the program. */
    struct text_event *copies = arena_take(&graph->arena, scan->event_count * sizeof(*copies));
    if (copies == NULL)
        return;
    size_t count = 0;
    for (const struct text_event *event = scan->first_event; event != NULL; event = event->next, ++count) {
        copies[count] = *event;
        copies[count].next = event->next != NULL ? &copies[count + 1] : NULL;
    }
    text->first_event = count != 0 ? copies : NULL;
    for (const struct scanned_macro *macro = scan->first_macro; macro != NULL; macro = macro->next) {
        if (macro->definition != NULL)
            (void)macro_table_define(&graph->macros, macro->name, macro->size, macro->definition);
        else
            macro_table_undefine(&graph->macros, macro->name);
    }
    graph->macros.are_hidden = graph->macros.are_hidden || scan->hides_macros;
    graph->names_matter = graph->names_matter || scan->names_matter;
    graph->has_paste = graph->has_paste || scan->has_paste;
    graph->has_beginning = graph->has_beginning || scan->has_beginning;
    graph->scan_steps += scan->steps;
    text->facts = scan->facts;
}
