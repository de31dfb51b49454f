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
#define TAKEN_FOR_INCLUDED "#error Ingot took this file for already included\n#endif\n"
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

/* Writes a part of a text as it is. */
static void put_inlined_bytes(struct inline_walk *walk, size_t size, const char *bytes)
{
    if (walk->out->size + size > MAX_INLINED_BYTES)
        walk->limit = "with all that they include, the sources have more than 256 MiB";
    else
        bytes_put(walk->out, size, bytes);
}

/* ---- markers ---- */

static void put_marker(struct inline_walk *walk, size_t line, const char *path, const char *flag)
{
    bytes_print(walk->out, "# %zu \"", line);
    for (; *path != 0; ++path) {
        if (*path == '"' || *path == '\\')
            bytes_put(walk->out, 1, "\\");
        bytes_put(walk->out, 1, path);
    }
    bytes_print(walk->out, "\"%s", flag);
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

/* ---- assumptions ---- */

static void forget_until(struct inline_walk *walk, const struct assumption *mark)
{
    for (; walk->assumed != mark; walk->assumed = walk->assumed->next)
        --walk->assumed->text->assumed;
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
    bytes_print(walk->out, "\n#line %zu\n#error Ingot could not replace this directive\n", position->line);
    if (walk->gap == NULL) {
        walk->gap = event;
        walk->gap_text = position->text;
    }
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
    struct bytes_writer *out = walk->out;
    const char *outer = target->shown; /* the text may include itself under another name */
    const bool is_nested = walk->depth <= MAX_NESTED_MARKERS || walk->graph->input->rules->unnamed_source == NULL;
    bytes_put_text(out, "\n");
    if (target->facts.has_once)
        bytes_print(out, "#ifndef INGOT_ONCE_%zu\n", target->once_owner->number);
    bytes_print(out, "#line %zu\n", from_line);
    target->shown = walk->graph->names_matter ? target->path : event->spelled;
    put_marker(walk, 1, target->shown, is_nested ? " 1\n" : "\n");
    /* A guard prevents a second inclusion if its macro is defined, and nothing undefines it. */
    const struct macro *guard = NULL;
    struct assumption *assumption = NULL;
    if (target->facts.guard != NULL)
        guard = macro_table_find(&walk->graph->macros, target->facts.guard_size, target->facts.guard);
    if (target->facts.has_once || (guard != NULL && !guard->is_undefined))
        assumption = arena_take(&walk->graph->arena, sizeof(*assumption));
    if (assumption != NULL) {
        *assumption = (struct assumption){walk->assumed, target};
        walk->assumed = assumption;
        ++target->assumed;
    }
    walk_text(walk, target);
    target->shown = outer != NULL ? outer : target->shown;
    bytes_put_text(out, "\n");
    put_marker(walk, position->line + 1, get_marker_name(walk, position->text), is_nested ? " 2" : "");
    bytes_put_text(out, position->is_system ? " 3\n" : "\n");
    if (target->facts.has_once)
        bytes_put_text(out, "#endif\n");
}

static void replace_include(struct inline_walk *walk, struct position *position, const struct text_event *event)
{
    const struct clean_text *clean = &position->text->facts.clean;
    struct graph_text *target = event->target;
    struct bytes_writer *out = walk->out;
    struct position behind = *position;
    ++walk->moved;
    (void)pass_over(&behind, event);
    if (target == NULL || target->facts.problem != NULL || walk->depth >= MAX_INLINE_DEPTH) {
        put_gap(walk, position, event);
    } else {
        number_text(walk, target);
        if (target->facts.has_once)
            number_text(walk, target->once_owner);
        for (const struct name_check *check = event->checks; check != NULL; check = check->next)
            bytes_print(out, "\n#if%sdef %.*s\n#error Ingot took this include for another\n#endif",
                        check->is_defined ? "n" : "", (int)check->name_size, check->name);
        if (target->assumed == 0) {
            const size_t name = text_raw_offset(clean, (size_t)(event->operand - clean->start));
            const size_t lines = text_count_lines(clean->raw + position->from, clean->raw + name);
            put_target(walk, &behind, position->line + lines, event);
        } else if (target->facts.has_once) {
            bytes_print(out, "\n#ifndef INGOT_ONCE_%zu\n" TAKEN_FOR_INCLUDED, target->once_owner->number);
        } else {
            bytes_print(out, "\n#ifndef %.*s\n" TAKEN_FOR_INCLUDED, (int)target->facts.guard_size, target->facts.guard);
        }
    }
    bytes_print(walk->out, "#line %zu", behind.line + 1); /* the number of the next line, because a #line applies to the
                                                           * line that follows it */
    *position = behind;
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
        bytes_print(walk->out, "#line %zu", position->line + 1);
        return;
    case EVENT_HAS_INCLUDE: bytes_put_text(walk->out, event->target != NULL ? " 1 " : " 0 "); break;
    case EVENT_ONCE: bytes_print(walk->out, "#define INGOT_ONCE_%zu", position->text->once_owner->number); break;
    case EVENT_SYSTEM_HEADER: put_marker(walk, position->line + 1, position->text->shown, " 3"); break;
    default: break;
    }
    for (size_t lines = pass_over(position, event); lines != 0; --lines)
        bytes_put_text(walk->out, "\\\n"); /* keeps the number of lines */
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
        /* a source keeps these pragmas, because compilers ignore them there */
        const bool is_own_pragma =
            text->origin == TEXT_SOURCE && (event->kind == EVENT_ONCE || event->kind == EVENT_SYSTEM_HEADER);
        if (event->kind == EVENT_IF || event->kind == EVENT_ELSE || event->kind == EVENT_ENDIF)
            walk_condition(walk, &open, &position, event);
        else if (event->kind != EVENT_LINE_END && !is_own_pragma)
            replace_event(walk, &position, event);
        if (event->kind == EVENT_LINE_END && position.is_moved) {
            /* The #line of a replacement has no effect if its branch is not taken, so it is repeated at the end of the
             * branch. If the text itself has an earlier #line, only the compiler knows whether that is active. */
            position.is_moved = false;
            put_before(walk, &position, event);
            if (event->gap != NULL)
                put_gap(walk, &position, event);
            else
                bytes_put_text(walk->out, "\n");
            bytes_print(walk->out, "#line %zu", position.line + 1);
        }
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
        bytes_put_text(walk->out, walk->graph->refusal == ASM_IS_A_MACRO ? asm_as_macro : poisoned_asm);
        put_marker(walk, 1, get_marker_name(walk, source), " 2\n");
        bytes_put_text(walk->out, "#line 1\n");
    }
    number_text(walk, source);
    walk_text(walk, source);
    forget_until(walk, NULL); /* the next source is compiled separately, so no assumption holds there */
}
