/*
 * include_closure.c - from sources and options to the bytes that stand for all they include.
 *
 * First the graph is grown until nothing new is found: a text that was just found may define a macro by which an
 * include found earlier is computed. Then it is walked depth-first, in order of appearance, for the first reason
 * against an id, and for the order of the result. Nothing depends on paths but what is looked up by them, and the
 * result only where a text asks for its own name.
 */
#include "core/include_closure/include_closure.h"

#include <limits.h>
#include <string.h>

#include "core/digest.h"
#include "core/include_closure/include_graph.h"

enum { MAX_ROUNDS = 200 }; /* each may cost an expansion of every computed include */

/* ---- is there anything to do ---- */

static bool contains(size_t size, const char *text, const char *part)
{
    return memmem(text, size, part, strlen(part)) != NULL;
}

bool include_closure_concerns(size_t size, const char *text)
{
    static const char *const parts[] = {"%:",   "??",       "DATE__",  "TIME__", "TIMESTAMP__",
                                        "FILE", "location", "include", "assert", "incbin"};
    if (size == 0)
        return false;
    /* A backslash may hide any of the others by joining lines. */
    if (memchr(text, '#', size) != NULL || memchr(text, '\\', size) != NULL)
        return true;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); ++i) {
        if (contains(size, text, parts[i]))
            return true;
    }
    return false;
}

bool include_closure_options_concern(const char *options)
{
    /* Characters that can begin anything of concern, and the end. Asked for each request by content, so one look at
     * all other characters has to do. */
    static const char stops[UCHAR_MAX + 1] = {['\0'] = 1, ['\\'] = 1, ['#'] = 1, ['@'] = 1, ['_'] = 1, ['-'] = 1};

    for (const char *p = options;; ++p) {
        while (!stops[(unsigned char)*p])
            ++p;
        if (*p == '\0')
            return false;
        if (*p == '\\' || *p == '#' || *p == '@' || (*p == '_' && p[1] == '_'))
            return true;
        /* -include, -imacros, ..., -use-pch, -Xclang, every long option, and what quotes may hide */
        if (*p != '-')
            continue;
        switch (p[1]) {
        case 'i':
        case 'u':
        case 'X':
        case '-':
        case '"':
        case '\'':
            return true;
        case 'W':
        case 'o':
        case 'f':
            if (strncmp(p, "-Wp,", 4) == 0 || strncmp(p, "-optf", 5) == 0 || strncmp(p, "-fmodule", 8) == 0)
                return true;
            break;
        default:
            break;
        }
    }
}

/* ---- the graph's beginning ---- */

struct graph_text *graph_add_text(struct include_graph *graph, enum text_origin origin, const char *path)
{
    struct graph_text *text = arena_take(&graph->arena, sizeof(*text));
    if (text == NULL)
        return NULL;
    text->origin = origin;
    text->path = path;
    text->bytes = "";
    bytes_writer_init(&text->content, graph->arena.allocator);
    if (graph->last != NULL)
        graph->last->next = text;
    else
        graph->first = text;
    graph->last = text;
    return text;
}

struct include_edge *graph_add_edge(struct include_graph *graph, struct graph_text *text, enum header_kind kind,
                                    size_t size, const char *operand)
{
    struct include_edge *edge = arena_take(&graph->arena, sizeof(*edge));
    if (edge == NULL)
        return NULL;
    edge->kind = kind;
    edge->operand = operand;
    edge->operand_size = size;
    if (text->last_edge != NULL)
        text->last_edge->next = edge;
    else
        text->first_edge = edge;
    text->last_edge = edge;
    return edge;
}

static bool is_text(ingot_source_kind_t kind)
{
    return kind == INGOT_SOURCE_OPENCL_C || kind == INGOT_SOURCE_CUDA_CPP || kind == INGOT_SOURCE_HEADER ||
           (kind >= INGOT_SOURCE_OWN_TEXT && kind < INGOT_SOURCE_OWN_BINARY);
}

static void add_view(struct include_graph *graph, enum text_origin origin, const ingot_source_view_t *view)
{
    struct graph_text *text = graph_add_text(graph, origin, view->name);
    if (text == NULL)
        return;
    text->bytes = view->bytes;
    text->size = view->size;
    if (origin != TEXT_HEADER)
        return;
    text->normal = include_normal_path(&graph->arena, view->name);
    graph->headers[graph->header_count++] = text;
    text->number = graph->header_count;
}

static void add_definition(struct include_graph *graph, struct graph_text *text, const struct option *option)
{
    macro_table_define_option(&graph->macros, option->value);
    if (strcmp(option->value, option->raw_value) != 0)
        macro_table_define_option(&graph->macros, option->raw_value);
    include_scan_option(graph, text, option->value);
}

static void add_options(struct include_graph *graph, const char *options)
{
    struct graph_text *text = graph_add_text(graph, TEXT_OPTIONS, "");
    graph->options = options_parse(&graph->arena, options);
    if (text == NULL)
        return;
    for (const struct option *option = graph->options; option != NULL; option = option->next) {
        if (option->kind == OPTION_DEFINE) {
            add_definition(graph, text, option);
        } else if (option->kind == OPTION_UNDEFINE) {
            macro_table_undefine(&graph->macros, strlen(option->value), option->value);
        } else if (option->kind == OPTION_INCLUDE) {
            graph_add_edge(graph, text, HEADER_QUOTED, strlen(option->value), option->value);
        } else if (option->kind == OPTION_UNFOLLOWED && text->problem == NULL) {
            text->problem = option->value;
            text->problem_clause = "which is not followed";
        }
    }
}

static void graph_init(struct include_graph *graph, const ingot_allocator_t *allocator,
                       const ingot_source_view_t *sources, size_t source_count, const ingot_source_view_t *headers,
                       size_t header_count, const char *options)
{
    *graph = (struct include_graph){.cplusplus = true};
    arena_init(&graph->arena, allocator);
    arena_init(&graph->scratch, allocator);
    macro_table_init(&graph->macros, &graph->arena);
    graph->buckets = arena_take(&graph->arena, PATH_BUCKETS * sizeof(*graph->buckets));
    graph->headers = arena_take(&graph->arena, header_count * sizeof(*graph->headers));
    if (graph->arena.failed)
        return;

    /* Older C++ has neither raw strings nor quotes in numbers. */
    if (strstr(options, "++98") != NULL || strstr(options, "++03") != NULL || strstr(options, "++11") != NULL ||
        strstr(options, "++0x") != NULL)
        graph->cplusplus = false;
    add_options(graph, options);
    for (size_t i = 0; i < header_count; ++i) {
        if (is_text(headers[i].kind))
            add_view(graph, TEXT_HEADER, &headers[i]);
    }
    for (size_t i = 0; i < source_count; ++i) {
        if (!is_text(sources[i].kind))
            continue;
        add_view(graph, TEXT_SOURCE, &sources[i]);
        const bool cuda = sources[i].kind == INGOT_SOURCE_CUDA_CPP;
        graph->cplusplus = graph->cplusplus && cuda;
        graph->system_directories = graph->system_directories || !cuda;
        graph->brings_assert = graph->brings_assert || sources[i].kind != INGOT_SOURCE_OPENCL_C;
    }
}

static void graph_fini(struct include_graph *graph)
{
    for (struct graph_text *text = graph->first; text != NULL; text = text->next)
        bytes_writer_fini(&text->content);
    arena_fini(&graph->scratch);
    arena_fini(&graph->arena);
}

/* ---- growing ---- */

static void note_doubt(struct include_graph *graph, struct include_edge *edge, const struct macro_worlds *worlds)
{
    struct bytes_writer text;
    bytes_writer_init(&text, graph->arena.allocator);
    bytes_put_text(&text, worlds->doubt);
    bytes_put_text(&text, " ");
    bytes_put(&text, worlds->doubt_size, worlds->doubt_name);
    edge->doubt = text.failed ? NULL : arena_copy(&graph->arena, text.size, (const char *)text.bytes);
    if (edge->doubt == NULL)
        graph->status = INGOT_OUT_OF_MEMORY;
    bytes_writer_fini(&text);
}

/* Anew for each set of definitions, so that the order of targets is that of the definitions. */
static void resolve_computed(struct include_graph *graph, const struct graph_text *text, struct include_edge *edge)
{
    struct macro_worlds worlds;
    struct header_name name;
    edge->target_count = 0;
    edge->doubt = NULL;
    macro_worlds_init(&worlds, &graph->macros, &graph->scratch, edge->operand_size, edge->operand);
    while (macro_worlds_next(&worlds, &name)) {
        if (name.kind != HEADER_NONE)
            include_search(graph, text, edge, &name);
    }
    if (worlds.doubt != NULL)
        note_doubt(graph, edge, &worlds);
}

static bool stopped(const struct include_graph *graph)
{
    return graph->arena.failed || graph->scratch.failed || graph->status != INGOT_SUCCESS || graph->limit != NULL;
}

static void resolve_plain(struct include_graph *graph, struct graph_text *text)
{
    for (struct include_edge *edge = text->first_edge; edge != NULL && !stopped(graph); edge = edge->next) {
        const struct header_name name = {edge->kind, edge->operand, edge->operand_size};
        if (edge->kind != HEADER_NONE)
            include_search(graph, text, edge, &name);
    }
}

/* Scans what was found from `text` on, in the order found, and all that it leads to. */
static void scan_from(struct include_graph *graph, struct graph_text *text)
{
    for (; text != NULL && !stopped(graph); text = text->next) {
        if (text->absent || text->problem != NULL)
            continue;
        if (text->origin != TEXT_OPTIONS)
            include_scan(graph, text);
        resolve_plain(graph, text);
    }
}

static void resolve_all_computed(struct include_graph *graph)
{
    for (struct graph_text *text = graph->first; text != NULL && !stopped(graph); text = text->next) {
        for (struct include_edge *edge = text->first_edge; edge != NULL && !stopped(graph); edge = edge->next) {
            if (edge->kind == HEADER_NONE)
                resolve_computed(graph, text, edge);
        }
    }
}

static void grow(struct include_graph *graph)
{
    scan_from(graph, graph->first);
    for (size_t round = 0; !stopped(graph); ++round) {
        const struct graph_text *known = graph->last;
        resolve_all_computed(graph);
        if (known == graph->last)
            break;
        scan_from(graph, known->next);
        if (round == MAX_ROUNDS)
            graph->limit = "computed includes are nested too deeply";
    }
}

/* ---- reasons ---- */

static void put_number(struct bytes_writer *out, size_t number)
{
    char digits[24];
    size_t at = sizeof(digits);
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    bytes_put(out, sizeof(digits) - at, digits + at);
}

static void put_place(struct bytes_writer *out, const struct graph_text *text, size_t line)
{
    if (text->origin == TEXT_OPTIONS)
        bytes_put_text(out, "the options");
    else if (text->path[0] != 0)
        bytes_put_text(out, text->path);
    else
        bytes_put_text(out, "the source");
    if (line == 0)
        return;
    bytes_put_text(out, " line ");
    put_number(out, line);
}

static void put_include(struct bytes_writer *out, const struct graph_text *text, const struct include_edge *edge)
{
    const char *quotes = edge->kind == HEADER_QUOTED ? "\"\"" : edge->kind == HEADER_ANGLE ? "<>" : NULL;
    bytes_put_text(out, text->origin == TEXT_OPTIONS ? "the -include " : "the #include ");
    if (quotes != NULL)
        bytes_put(out, 1, quotes);
    bytes_put(out, edge->operand_size, edge->operand);
    if (quotes != NULL)
        bytes_put(out, 1, quotes + 1);
    bytes_put_text(out, " in ");
    put_place(out, text, edge->at != NULL ? text_line(&text->clean, edge->at) : 0);
}

static bool edge_reason(struct bytes_writer *out, const struct graph_text *text, const struct include_edge *edge)
{
    if (edge->doubt != NULL) {
        put_include(out, text, edge);
        bytes_put_text(out, " cannot be computed: ");
        bytes_put_text(out, edge->doubt);
    } else if (edge->target_count == 0 && !edge->conditional) {
        put_include(out, text, edge);
        bytes_put_text(out, " was not found");
    }
    return out->size != 0;
}

static bool text_reason(struct bytes_writer *out, const struct graph_text *text)
{
    if (text->problem == NULL)
        return false;
    put_place(out, text, text->problem_line);
    bytes_put_text(out, " has ");
    bytes_put_text(out, text->problem);
    bytes_put_text(out, ", ");
    bytes_put_text(out, text->problem_clause);
    return true;
}

/* ---- the walk ---- */

struct walk {
    struct include_graph *graph;
    struct graph_text **order; /* visited texts */
    size_t count;
    struct walk_step *steps;
    size_t depth;
    struct bytes_writer reason;
};

struct walk_step {
    const struct graph_text *text;
    const struct include_edge *edge;
    size_t target;
};

static void visit(struct walk *walk, struct graph_text *text)
{
    text->visited = true;
    walk->order[walk->count++] = text;
    if (!text_reason(&walk->reason, text))
        walk->steps[walk->depth++] = (struct walk_step){text, text->first_edge, 0};
}

static void walk_from(struct walk *walk, struct graph_text *root)
{
    visit(walk, root);
    while (walk->depth != 0 && walk->reason.size == 0) {
        struct walk_step *step = &walk->steps[walk->depth - 1];
        if (step->edge == NULL) {
            --walk->depth;
        } else if (step->target == 0 && edge_reason(&walk->reason, step->text, step->edge)) {
            break;
        } else if (step->target < step->edge->target_count) {
            struct graph_text *target = step->edge->targets[step->target++];
            if (!target->visited)
                visit(walk, target);
        } else {
            step->edge = step->edge->next;
            step->target = 0;
        }
    }
}

static bool walk_all(struct walk *walk)
{
    struct include_graph *graph = walk->graph;
    size_t text_count = 0;
    for (const struct graph_text *text = graph->first; text != NULL; text = text->next)
        ++text_count;
    walk->order = arena_take(&graph->arena, text_count * sizeof(*walk->order));
    walk->steps = arena_take(&graph->arena, (text_count + 1) * sizeof(*walk->steps));
    if (walk->order == NULL || walk->steps == NULL)
        return false;
    bytes_writer_init(&walk->reason, graph->arena.allocator);
    for (struct graph_text *text = graph->first; text != NULL && walk->reason.size == 0; text = text->next) {
        if ((text->origin == TEXT_OPTIONS || text->origin == TEXT_SOURCE) && !text->visited)
            walk_from(walk, text);
    }
    return true;
}

/* ---- the result ---- */

static void put_entry(struct bytes_writer *files, const struct graph_text *text, bool with_name)
{
    uint8_t digest[DIGEST_SIZE];
    const size_t name_size = with_name ? strlen(text->path) : 0;
    digest_of(text->size, text->bytes, digest);
    bytes_put_u64(files, sizeof(digest) + sizeof(uint64_t) + name_size);
    bytes_put(files, sizeof(digest), digest);
    bytes_put_framed(files, name_size, text->path);
}

/* Which include leads to which text: without it, two different graphs over the same contents would look alike. */
static void put_shape(struct bytes_writer *files, const struct walk *walk)
{
    uint8_t digest[DIGEST_SIZE];
    struct bytes_writer shape;
    bytes_writer_init(&shape, files->allocator);
    for (size_t i = 0; i < walk->count; ++i) {
        for (const struct include_edge *edge = walk->order[i]->first_edge; edge != NULL; edge = edge->next) {
            bytes_put_u64(&shape, edge->target_count);
            for (size_t t = 0; t < edge->target_count; ++t) {
                const struct graph_text *target = edge->targets[t];
                bytes_put_u64(&shape, target->number * 2 + (target->origin == TEXT_HEADER ? 1 : 0));
            }
        }
        bytes_put_u64(&shape, UINT64_MAX);
    }
    if (shape.failed)
        files->failed = true;
    else
        digest_of(shape.size, shape.bytes, digest);
    if (!shape.failed)
        bytes_put_framed(files, sizeof(digest), digest);
    bytes_writer_fini(&shape);
}

static void put_result(struct bytes_writer *files, const struct walk *walk)
{
    size_t file_number = 0;
    bool any_include = false;
    for (size_t i = 0; i < walk->count; ++i) {
        struct graph_text *text = walk->order[i];
        any_include = any_include || text->first_edge != NULL;
        if (text->origin == TEXT_FILE)
            text->number = ++file_number;
        if (text->origin == TEXT_FILE || (walk->graph->names_matter && text->origin != TEXT_OPTIONS))
            put_entry(files, text, walk->graph->names_matter);
    }
    if (any_include)
        put_shape(files, walk);
}

static ingot_status_t give_reason(struct include_closure *closure, struct bytes_writer *reason)
{
    bytes_put(reason, 1, "");
    if (reason->failed)
        return INGOT_OUT_OF_MEMORY;
    closure->reason = alloc_text(closure->files.allocator, (const char *)reason->bytes);
    return closure->reason != NULL ? INGOT_SUCCESS : INGOT_OUT_OF_MEMORY;
}

static ingot_status_t conclude(struct include_closure *closure, struct include_graph *graph)
{
    if (graph->arena.failed || graph->scratch.failed || graph->status != INGOT_SUCCESS)
        return INGOT_OUT_OF_MEMORY;
    if (graph->limit != NULL) {
        closure->reason = alloc_text(closure->files.allocator, graph->limit);
        return closure->reason != NULL ? INGOT_SUCCESS : INGOT_OUT_OF_MEMORY;
    }
    struct walk walk = {.graph = graph};
    if (!walk_all(&walk))
        return INGOT_OUT_OF_MEMORY;
    ingot_status_t status = INGOT_SUCCESS;
    if (walk.reason.size != 0 || walk.reason.failed)
        status = give_reason(closure, &walk.reason);
    else
        put_result(&closure->files, &walk);
    bytes_writer_fini(&walk.reason);
    return closure->files.failed ? INGOT_OUT_OF_MEMORY : status;
}

void include_closure_init(struct include_closure *closure, const ingot_allocator_t *allocator)
{
    bytes_writer_init(&closure->files, allocator);
    closure->reason = NULL;
}

void include_closure_fini(struct include_closure *closure)
{
    alloc_free_text(closure->files.allocator, closure->reason);
    closure->reason = NULL;
    bytes_writer_fini(&closure->files);
}

ingot_status_t include_closure_resolve(struct include_closure *closure, const ingot_source_view_t *sources,
                                       size_t source_count, const ingot_source_view_t *headers, size_t header_count,
                                       const char *compile_options)
{
    struct include_graph graph;
    graph_init(&graph, closure->files.allocator, sources, source_count, headers, header_count, compile_options);
    if (!graph.arena.failed)
        grow(&graph);
    const ingot_status_t status = conclude(closure, &graph);
    graph_fini(&graph);
    return status;
}
