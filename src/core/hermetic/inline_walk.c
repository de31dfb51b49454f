/*
 * inline_walk.c - makes one text from a source, in which each include is replaced by the included text, between line
 * markers.
 *
 * Conditions such as #if stay in the text, and the compiler evaluates them. Where the walk assumes something, it writes
 * a check for the compiler. For example, if it assumes that a file is already included, it writes an #error in an
 * `#ifndef GUARD` instead of the file. So a wrong assumption makes the build fail; it cannot produce a different
 * program.
 *
 * Line markers name a file as the directive spells it, so that the text does not depend on where the files are. Where
 * names affect the result, they have the path by which the file was found, as the compiler would name it.
 */
#include "core/hermetic/source_graph.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Limits of the walk. NVRTC (seen with 13.0) ends the process if it emits a warning inside 30 or more nested
 * line markers. */
enum { MAX_INLINE_DEPTH = 150, MAX_NESTED_MARKERS = 20, MAX_REPLACED = 200000 };
#define MAX_INLINED_BYTES ((uint64_t)256 << 20)

/* Each expansion has too many arguments. That is an error also where the result would not be seen. The marker names the
 * place of these definitions, so the compiler's log has the name. */
static const char asm_as_macro[] = "#define " HERMETIC_NO_ASM "()\n"
                                   "#define asm " HERMETIC_NO_ASM "(,)\n"
                                   "#define __asm " HERMETIC_NO_ASM "(,)\n"
                                   "#define __asm__ " HERMETIC_NO_ASM "(,)\n";
static const char poisoned_asm[] = "#pragma GCC poison asm __asm __asm__\n";
static const char byte_order_mark[] = "\xef\xbb\xbf";

/* A text that the walk assumes to be already included. */
struct assumption {
    struct assumption *next;
    struct graph_text *text;
};

/* The position of the walk in a text. */
struct position {
    const struct graph_text *text;
    size_t from;    /* offset in the raw text: everything before it has been written */
    size_t line;    /* line number of `from` */
    bool is_moved;  /* true if following lines were shifted in the branch that just ended */
    bool is_system; /* true after a #pragma system_header that is certainly active */
};

static void put_inlined_bytes(struct inline_walk *walk, size_t size, const char *bytes)
{
    if (walk->out->size + size > MAX_INLINED_BYTES)
        walk->limit = "with all that they include, the sources have more than 256 MiB";
    else
        bytes_put(walk->out, size, bytes);
}

static void put_inlined_text(struct inline_walk *walk, const char *text)
{
    put_inlined_bytes(walk, strlen(text), text);
}

/* ---- markers ---- */

static void put_quoted(struct inline_walk *walk, const char *path)
{
    put_inlined_text(walk, "\"");
    for (; *path != 0; ++path) {
        if (*path == '"' || *path == '\\')
            put_inlined_text(walk, "\\");
        put_inlined_bytes(walk, 1, path);
    }
    put_inlined_text(walk, "\"");
}

static void put_line(struct inline_walk *walk, size_t line)
{
    char text[48];
    (void)snprintf(text, sizeof(text), "#line %zu", line);
    put_inlined_text(walk, text);
}

static void put_marker(struct inline_walk *walk, size_t line, const char *path, const char *flag)
{
    char text[32];
    (void)snprintf(text, sizeof(text), "# %zu ", line);
    put_inlined_text(walk, text);
    put_quoted(walk, path);
    put_inlined_text(walk, flag);
}

/* Returns the file name for the marker after an include, where the including text continues. "" stands for the
 * previous name. */
static const char *get_marker_name(const struct inline_walk *walk, const struct graph_text *text)
{
    const char *unnamed = walk->graph->input->rules->unnamed_source;
    if (unnamed == NULL)
        return "";
    return text->shown[0] != 0 ? text->shown : unnamed;
}

static void put_once_name(struct inline_walk *walk, const struct graph_text *text)
{
    char name[48];
    (void)snprintf(name, sizeof(name), "INGOT_ONCE_%zu", text->once_owner->number);
    put_inlined_text(walk, name);
}

/* ---- assumptions ---- */

static void assume_text(struct inline_walk *walk, struct graph_text *text)
{
    struct assumption *assumption = arena_take(&walk->graph->arena, sizeof(*assumption));
    if (assumption == NULL)
        return;
    *assumption = (struct assumption){walk->assumed, text};
    walk->assumed = assumption;
    ++text->assumed;
}

static void forget_until(struct inline_walk *walk, const struct assumption *mark)
{
    for (; walk->assumed != mark; walk->assumed = walk->assumed->next)
        --walk->assumed->text->assumed;
}

/* True if the file's guard prevents a second inclusion: its macro is defined, and nothing undefines it. */
static bool has_sound_guard(const struct inline_walk *walk, const struct graph_text *text)
{
    if (text->facts.guard == NULL)
        return false;
    const struct macro *macro = macro_table_find(&walk->graph->macros, text->facts.guard_size, text->facts.guard);
    return macro != NULL && !macro->is_undefined;
}

/* ---- events ---- */

/* Writes everything before the event. */
static void put_before(struct inline_walk *walk, struct position *position, const struct text_event *event)
{
    const struct clean_text *clean = &position->text->facts.clean;
    const size_t start = text_raw_offset(clean, event->start);
    put_inlined_bytes(walk, start - position->from, clean->raw + position->from);
    position->line += text_count_lines(clean->raw + position->from, clean->raw + start);
    position->from = start;
}

/* Leaves the event out of the text. Returns how many lines the event spans. */
static size_t pass_over(struct position *position, const struct text_event *event)
{
    const struct clean_text *clean = &position->text->facts.clean;
    const size_t end = text_raw_offset(clean, event->end);
    const size_t lines = text_count_lines(clean->raw + position->from, clean->raw + end);
    position->line += lines;
    position->from = end;
    return lines;
}

static void put_gap(struct inline_walk *walk, const struct position *position, const struct text_event *event)
{
    ++walk->moved;
    put_inlined_text(walk, "\n");
    put_line(walk, position->line);
    put_inlined_text(walk, "\n#error Ingot could not replace this directive\n");
    if (walk->gap == NULL) {
        walk->gap = event;
        walk->gap_text = position->text;
    }
}

static void put_checks(struct inline_walk *walk, const struct name_check *check)
{
    for (; check != NULL; check = check->next) {
        put_inlined_text(walk, check->is_defined ? "\n#ifndef " : "\n#ifdef ");
        put_inlined_bytes(walk, check->name_size, check->name);
        put_inlined_text(walk, "\n#error Ingot took this include for another\n#endif");
    }
}

static void put_assumed(struct inline_walk *walk, const struct graph_text *target)
{
    put_inlined_text(walk, "\n#ifndef ");
    if (target->facts.has_once)
        put_once_name(walk, target);
    else
        put_inlined_bytes(walk, target->facts.guard_size, target->facts.guard);
    put_inlined_text(walk, "\n#error Ingot took this file for already included\n#endif\n");
}

static void walk_text(struct inline_walk *walk, struct graph_text *text);

/* Numbers the texts from 1, in the order in which the walk comes to them. */
static void number_text(struct inline_walk *walk, struct graph_text *text)
{
    if (text->number != 0)
        return;
    walk->order[walk->count++] = text;
    text->number = walk->count;
}

/* Writes the text that an include leads to. from_line is the line of the file name in the directive, which compilers
 * print after "In file included from". `position` is after the directive. */
static void put_target(struct inline_walk *walk, const struct position *position, size_t from_line,
                       const struct text_event *event)
{
    struct graph_text *target = event->target;
    const char *outer = target->shown; /* the text may include itself under another name */
    const bool is_nested = walk->depth <= MAX_NESTED_MARKERS || walk->graph->input->rules->unnamed_source == NULL;
    put_inlined_text(walk, "\n");
    if (target->facts.has_once) {
        put_inlined_text(walk, "#ifndef ");
        put_once_name(walk, target);
        put_inlined_text(walk, "\n");
    }
    put_line(walk, from_line);
    put_inlined_text(walk, "\n");
    target->shown = walk->graph->names_matter ? target->path : event->spelled;
    put_marker(walk, 1, target->shown, is_nested ? " 1\n" : "\n");
    if (target->facts.has_once || has_sound_guard(walk, target))
        assume_text(walk, target);
    walk_text(walk, target);
    target->shown = outer != NULL ? outer : target->shown;
    put_inlined_text(walk, "\n");
    put_marker(walk, position->line + 1, get_marker_name(walk, position->text), is_nested ? " 2" : "");
    put_inlined_text(walk, position->is_system ? " 3\n" : "\n");
    if (target->facts.has_once)
        put_inlined_text(walk, "#endif\n");
}

static size_t line_of_name(const struct position *position, const struct text_event *event)
{
    const struct clean_text *clean = &position->text->facts.clean;
    const size_t name = text_raw_offset(clean, (size_t)(event->operand - clean->start));
    return position->line + text_count_lines(clean->raw + position->from, clean->raw + name);
}

static void replace_include(struct inline_walk *walk, struct position *position, const struct text_event *event)
{
    struct graph_text *target = event->target;
    struct position behind = *position;
    ++walk->moved;
    (void)pass_over(&behind, event);
    if (target == NULL || target->facts.problem != NULL || walk->depth >= MAX_INLINE_DEPTH) {
        put_gap(walk, position, event);
    } else {
        number_text(walk, target);
        if (target->facts.has_once)
            number_text(walk, target->once_owner);
        put_checks(walk, event->checks);
        if (target->assumed != 0)
            put_assumed(walk, target);
        else
            put_target(walk, &behind, line_of_name(position, event), event);
    }
    put_line(walk, behind.line + 1); /* the number of the next line, because a #line applies to the line that follows
                                      * it */
    *position = behind;
}

/* Repeats the #line of a replacement at the end of its branch, because a #line in a branch that is not taken has no
 * effect. If the text itself has an earlier #line, writes a gap instead, because only the compiler knows whether that
 * #line is active. */
static void put_line_again(struct inline_walk *walk, struct position *position, const struct text_event *event)
{
    if (!position->is_moved)
        return;
    position->is_moved = false;
    put_before(walk, position, event);
    if (event->gap != NULL)
        put_gap(walk, position, event);
    else
        put_inlined_text(walk, "\n");
    put_line(walk, position->line + 1);
}

static void replace_event(struct inline_walk *walk, struct position *position, const struct text_event *event)
{
    if (++walk->replaced > MAX_REPLACED) {
        walk->limit = "more than 200000 directives are replaced";
        return;
    }
    put_before(walk, position, event);
    switch (event->kind) {
    case EVENT_INCLUDE: replace_include(walk, position, event); return;
    case EVENT_GAP:
        put_gap(walk, position, event);
        (void)pass_over(position, event);
        put_line(walk, position->line + 1);
        return;
    case EVENT_HAS_INCLUDE: put_inlined_text(walk, event->target != NULL ? " 1 " : " 0 "); break;
    case EVENT_ONCE:
        put_inlined_text(walk, "#define ");
        put_once_name(walk, position->text);
        break;
    case EVENT_SYSTEM_HEADER: put_marker(walk, position->line + 1, position->text->shown, " 3"); break;
    default: break;
    }
    for (size_t lines = pass_over(position, event); lines != 0; --lines)
        put_inlined_text(walk, "\\\n"); /* keeps the number of lines */
}

/* ---- texts ---- */

struct open_condition {
    struct open_condition *outer;
    struct assumption *mark; /* the newest assumption before the condition */
    size_t moved;            /* walk->moved before the condition */
};

/* Handles an #if, #else or #endif. Assumptions that were made in a branch end with the branch. */
static void walk_condition(struct inline_walk *walk, struct open_condition **open, struct position *position,
                           const struct text_event *event)
{
    if (event->is_guard)
        return;
    if (event->kind == EVENT_IF) {
        struct open_condition *condition = arena_take(&walk->graph->arena, sizeof(*condition));
        if (condition == NULL)
            return;
        *condition = (struct open_condition){*open, walk->assumed, walk->moved};
        *open = condition;
        return;
    }
    if (*open == NULL)
        return;
    forget_until(walk, (*open)->mark);
    position->is_moved = walk->moved != (*open)->moved;
    if (event->kind == EVENT_ENDIF)
        *open = (*open)->outer;
}

static void walk_text(struct inline_walk *walk, struct graph_text *text)
{
    const struct clean_text *clean = &text->facts.clean;
    struct position position = {.text = text, .line = 1};
    struct open_condition *open = NULL;
    ++walk->depth;
    for (const struct text_event *event = text->first_event; event != NULL; event = event->next) {
        if (walk->limit != NULL || walk->graph->arena.failed)
            break;
        const bool is_own_pragma =
            text->origin == TEXT_SOURCE && (event->kind == EVENT_ONCE || event->kind == EVENT_SYSTEM_HEADER);
        if (event->kind == EVENT_IF || event->kind == EVENT_ELSE || event->kind == EVENT_ENDIF)
            walk_condition(walk, &open, &position, event);
        else if (event->kind == EVENT_LINE_END)
            put_line_again(walk, &position, event);
        else if (!is_own_pragma) /* a source keeps these pragmas, because compilers ignore them there */
            replace_event(walk, &position, event);
        if (event->kind == EVENT_SYSTEM_HEADER && open == NULL && !is_own_pragma)
            position.is_system = true;
    }
    put_inlined_bytes(walk, clean->raw_size - position.from, clean->raw + position.from);
    --walk->depth;
}

ingot_status_t inline_walk_init(struct inline_walk *walk, struct source_graph *graph, struct bytes_writer *out)
{
    size_t count = 0;
    *walk = (struct inline_walk){.graph = graph, .out = out};
    for (struct graph_text *text = graph->first; text != NULL; text = text->next)
        ++count;
    walk->order = arena_take(&graph->arena, count * sizeof(*walk->order));
    return walk->order != NULL ? INGOT_SUCCESS : INGOT_OUT_OF_MEMORY;
}

/* Returns the rest of a text that begins with `part`, or NULL if it does not. */
static const char *after_part(const char *at, const char *end, const char *part)
{
    const size_t size = strlen(part);
    return at != NULL && (size_t)(end - at) >= size && memcmp(at, part, size) == 0 ? at + size : NULL;
}

enum asm_refusal inline_find_refusal(const struct source_graph *graph, const ingot_source_view_t *source, size_t *size)
{
    const char *start = source->bytes;
    const char *end = start + source->size;
    const char *mark_end = after_part(start, end, byte_order_mark);
    const char *at = after_part(mark_end != NULL ? mark_end : start, end, "# 1 \"" HERMETIC_NO_ASM "\" 1\n");
    const char *macro_end = after_part(at, end, asm_as_macro);
    const char *poison_end = after_part(at, end, poisoned_asm);
    const char *unnamed = graph->input->rules->unnamed_source;
    at = after_part(macro_end != NULL ? macro_end : poison_end, end, "# 1 \"");
    /* The name is the source's only if names matter. */
    const char *after_name = after_part(at, end, unnamed != NULL ? unnamed : "");
    if (after_part(after_name, end, "\"") == NULL && unnamed != NULL)
        after_name = after_part(at, end, source->name);
    at = after_part(after_name, end, "\" 2\n#line 1\n");
    *size = at != NULL ? (size_t)(at - start) : 0;
    return at == NULL ? ASM_IS_ACCEPTED : macro_end != NULL ? ASM_IS_A_MACRO : ASM_IS_POISONED;
}

void inline_walk_source(struct inline_walk *walk, struct graph_text *source)
{
    source->shown = walk->graph->names_matter ? source->path : "";
    if (source->size >= 3 && memcmp(source->bytes, byte_order_mark, 3) == 0)
        put_inlined_bytes(walk, 3, byte_order_mark);
    if (walk->graph->refusal != ASM_IS_ACCEPTED) {
        ++walk->replaced;
        put_marker(walk, 1, HERMETIC_NO_ASM, " 1\n");
        put_inlined_text(walk, walk->graph->refusal == ASM_IS_A_MACRO ? asm_as_macro : poisoned_asm);
        put_marker(walk, 1, get_marker_name(walk, source), " 2\n");
        put_line(walk, 1);
        put_inlined_text(walk, "\n");
    }
    number_text(walk, source);
    walk_text(walk, source);
    forget_until(walk, NULL); /* the next source is compiled separately, so no assumption holds there */
}
