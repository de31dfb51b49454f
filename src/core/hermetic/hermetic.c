/*
 * hermetic.c - resolves includes; see hermetic.h.
 *
 * First, a graph of texts grows until nothing new is found. This takes several rounds, because a new text may define a
 * macro that an earlier computed include uses. Then the sources are walked in the compiler's order, which makes one
 * text of each. The id contains their digests.
 */
#include "core/hermetic/hermetic.h"

#include <string.h>

#include "core/base/digest.h"
#include "core/hermetic/source_graph.h"
#include "core/hermetic/text_digests.h"

/* Limits of the search. Each round may expand every computed include. */
enum { MAX_ROUNDS = 200, MAX_EXPANSIONS = 50000 };

/* ---- the beginning of the graph ---- */

struct graph_text *graph_add_text(struct source_graph *graph, enum text_origin origin, const char *path)
{
    struct graph_text *text = arena_take(&graph->arena, sizeof(*text));
    if (text == NULL)
        return NULL;
    text->origin = origin;
    text->path = path;
    text->bytes = "";
    text->once_owner = text;
    if (graph->last != NULL)
        graph->last->next = text;
    else
        graph->first = text;
    graph->last = text;
    return text;
}

static bool is_graph_stopped(const struct source_graph *graph)
{
    return graph->arena.failed || graph->scratch.failed || graph->witness->arena.failed ||
           graph->status != INGOT_SUCCESS || graph->limit != NULL;
}

void text_set_problem(struct text_facts *facts, const char *at, const char *noun, const char *clause)
{
    if (facts->problem != NULL)
        return;
    facts->problem = noun;
    facts->problem_clause = clause;
    facts->problem_line = at != NULL ? text_line(&facts->clean, at) : 0;
}

bool hermetic_kind_has_includes(ingot_source_kind_t kind)
{
    return kind == INGOT_SOURCE_OPENCL_C || kind == INGOT_SOURCE_CUDA_CPP || kind == INGOT_SOURCE_HIP_CPP ||
           kind == INGOT_SOURCE_HEADER || (kind >= INGOT_SOURCE_OWN_TEXT && kind < INGOT_SOURCE_OWN_BINARY);
}

bool hermetic_concerns(size_t size, const char *text)
{
    static const char *const parts[] = {"%:",      "??",     "DATE__",   "TIME__",  "TIMESTAMP__",
                                        "LEVEL__", "FILE",   "location", "include", "import",
                                        "embed",   "assert", "asm",      "incbin",  "ragma"};
    /* A backslash may hide any of the other characters by joining lines. */
    if (size == 0)
        return false;
    if (memchr(text, '#', size) != NULL || memchr(text, '\\', size) != NULL)
        return true;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); ++i) {
        if (memmem(text, size, parts[i], strlen(parts[i])) != NULL)
            return true;
    }
    return false;
}

static void add_view(struct source_graph *graph, enum text_origin origin, const ingot_source_view_t *view)
{
    struct graph_text *text = graph_add_text(graph, origin, view->name);
    if (text == NULL)
        return;
    text->bytes = view->bytes;
    text->size = view->size;
    if (origin == TEXT_SOURCE && graph->input->is_final) {
        size_t begin = 0;
        const enum asm_refusal refusal = inline_find_refusal(graph, view, &begin);
        graph->given_refusal = refusal < graph->given_refusal ? refusal : graph->given_refusal;
        text->bytes += begin;
        text->size -= begin;
    }
    if (origin != TEXT_HEADER)
        return;
    text->normal = include_normal_path(&graph->arena, view->name);
    graph->headers[graph->header_count++] = text;
}

static bool is_late(struct source_graph *graph, const struct os_file_identity *identity)
{
    struct os_file_identity late;
    for (const char *const *path = graph_late_directories(graph); *path != NULL; ++path) {
        if (witness_identify_directory(graph->witness, *path, &late) && os_is_same_file(&late, identity))
            return true;
    }
    return false;
}

static void add_definition_of_option(struct source_graph *graph, const struct option *option)
{
    if (option->has_quotes && graph->input->rules->option_quotes != INGOT_QUOTES_SHELL)
        macro_table_doubt(&graph->macros, text_name_length(option->value_size, option->value), option->value);
    else
        macro_table_define_option(&graph->macros, option->value_size, option->value);
    /* Both as it is and without its quotes, which a compiler may remove: -DX="__TIME__". */
    const char *name = NULL;
    bool is_good = text_scan_definition(graph, option->value_size, option->value, &name);
    if (option->has_quotes && graph->input->rules->option_quotes != INGOT_QUOTES_SHELL) {
        size_t size = 0;
        char *bare = arena_copy(&graph->arena, option->value_size, option->value);
        for (size_t i = 0; bare != NULL && i < option->value_size; ++i) {
            if (strchr("\"'\\", bare[i]) == NULL)
                bare[size++] = bare[i];
        }
        is_good = is_good && text_scan_definition(graph, size, bare != NULL ? bare : "", &name);
    }
    if (!is_good && graph->option_problem == NULL)
        graph->option_problem = name;
}

static void add_all_options(struct source_graph *graph)
{
    for (size_t i = 0; i < HERMETIC_OPTIONS; ++i) {
        const char *options = graph->input->options[i];
        struct option_reader reader = {graph->input->rules, &graph->arena, options};
        struct option option;
        while (option_next(&reader, &option)) {
            struct directory *directory = NULL;
            if (option.kind == OPTION_DIRECTORY && graph->input->is_final)
                graph->limit = "an option names a directory";
            else if (option.kind == OPTION_DIRECTORY)
                directory = arena_take(&graph->arena, sizeof(*directory));
            else if (option.kind == OPTION_DEFINE)
                add_definition_of_option(graph, &option);
            else if (option.kind == OPTION_UNDEFINE)
                macro_table_undefine(&graph->macros, macro_name_of(option.value_size, option.value));
            if (directory != NULL) {
                directory->path = arena_copy(&graph->arena, option.value_size, option.value);
                directory->is_late =
                    directory->path != NULL &&
                    witness_identify_directory(graph->witness, directory->path, &directory->identity) &&
                    is_late(graph, &directory->identity);
                *graph->last_directory = directory;
                graph->last_directory = &directory->next;
            }
            graph->has_debug_information = graph->has_debug_information || option_keeps_names(&option);
            graph->names_matter = graph->names_matter || (graph->brings_assert && option_has_assert(&option));
        }
        graph->cplusplus = graph->cplusplus && !(strstr(options, "++98") != NULL || strstr(options, "++03") != NULL ||
                                                 strstr(options, "++11") != NULL || strstr(options, "++0x") != NULL);
    }
    graph->names_matter = graph->names_matter || graph->has_debug_information;
}

static void graph_init(struct source_graph *graph, struct witness *witness, const ingot_allocator_t *allocator,
                       const struct hermetic_input *input)
{
    *graph =
        (struct source_graph){.input = input, .witness = witness, .cplusplus = true, .given_refusal = ASM_IS_POISONED};
    graph->last_directory = &graph->directories;
    arena_init(&graph->arena, allocator);
    arena_init(&graph->scratch, allocator);
    macro_table_init(&graph->macros, &graph->arena);
    graph->buckets = arena_take(&graph->arena, PATH_BUCKETS * sizeof(*graph->buckets));
    graph->headers = arena_take(&graph->arena, input->header_count * sizeof(*graph->headers));
    if (graph->arena.failed)
        return;
    for (size_t i = 0; i < graph->input->source_count; ++i) {
        const ingot_source_kind_t kind = graph->input->sources[i].kind;
        if (!hermetic_kind_has_includes(kind))
            continue;
        graph->cplusplus = graph->cplusplus && (kind == INGOT_SOURCE_CUDA_CPP || kind == INGOT_SOURCE_HIP_CPP);
        graph->brings_assert = graph->brings_assert || kind != INGOT_SOURCE_OPENCL_C;
        graph->renames_files = graph->renames_files || kind != INGOT_SOURCE_CUDA_CPP;
    }
    add_all_options(graph);
    for (size_t i = 0; i < input->header_count && !input->is_final; ++i)
        add_view(graph, TEXT_HEADER, &input->headers[i]);
    for (size_t i = 0; i < input->source_count; ++i) {
        if (hermetic_kind_has_includes(input->sources[i].kind))
            add_view(graph, TEXT_SOURCE, &input->sources[i]);
    }
}

/* ---- growing the graph ---- */

static void resolve_plain(struct source_graph *graph, struct graph_text *text)
{
    for (struct text_event *event = text->first_event; event != NULL && !is_graph_stopped(graph); event = event->next) {
        const struct header_name name = {event->form, event->operand, event->operand_size};
        if (event->form == HEADER_NONE || event->gap != NULL ||
            (event->kind != EVENT_INCLUDE && event->kind != EVENT_HAS_INCLUDE))
            continue;
        include_search(graph, text, event, &name);
        if (event->kind == EVENT_HAS_INCLUDE && event->target == NULL &&
            !(graph->input->rules->knows_all_directories && event->gap == include_not_found))
            text_set_problem(&text->facts, event->operand, "__has_include", "whose answer only the compiler knows");
    }
}

/* Scans `text`, the texts that were found after it, and all texts that are found meanwhile. */
static void scan_from(struct source_graph *graph, struct graph_text *text)
{
    for (; text != NULL && !is_graph_stopped(graph); text = text->next) {
        if (text->absent || text->facts.problem != NULL)
            continue;
        graph_scan(graph, text);
        if (text->facts.problem == NULL)
            resolve_plain(graph, text);
    }
}

/* Resolves the computed includes. Called in each round, because the previous round may have found a new definition. */
static void resolve_all_computed(struct source_graph *graph)
{
    for (struct graph_text *text = graph->first; text != NULL; text = text->next) {
        for (struct text_event *event = text->first_event; event != NULL && !is_graph_stopped(graph);
             event = event->next) {
            if (event->kind != EVENT_INCLUDE || event->form != HEADER_NONE || event->stays_a_gap)
                continue;
            struct expanded_include expanded;
            event->target = NULL;
            event->gap = NULL;
            event->checks = NULL;
            if (graph->macros.are_hidden) {
                event->gap = "cannot be computed: some text has #pragma push_macro";
                continue;
            }
            if (++graph->expansions > MAX_EXPANSIONS) {
                graph->limit = "more than 50000 computed includes are expanded";
                continue;
            }
            macro_expand(&expanded, &graph->macros, &graph->scratch, event->operand_size, event->operand,
                         &graph->expansion_steps);
            if (graph->expansion_steps > MAX_EXPANSION_STEPS) {
                graph->limit = "the computed includes take more than 50000000 steps to expand";
                continue;
            }
            if (expanded.doubt != NULL) {
                event->gap = arena_print(&graph->arena, "cannot be computed: %s %.*s", expanded.doubt,
                                         (int)expanded.doubt_size, expanded.doubt_name);
                continue;
            }
            event->checks = expanded.checks;
            include_search(graph, text, event, &expanded.name);
        }
    }
}

static void grow_graph(struct source_graph *graph)
{
    scan_from(graph, graph->first);
    for (size_t round = 0; !is_graph_stopped(graph); ++round) {
        const struct graph_text *known = graph->last;
        resolve_all_computed(graph);
        if (known == graph->last)
            break;
        if (round == MAX_ROUNDS)
            graph->limit = "computed includes are nested too deeply";
        scan_from(graph, known->next); /* does nothing if the limit was just set */
    }
}

/* Scans final texts, and refuses what a resolution would have replaced. */
static void check_final_texts(struct source_graph *graph)
{
    for (struct graph_text *text = graph->first; text != NULL && !is_graph_stopped(graph); text = text->next) {
        graph_scan(graph, text);
        for (const struct text_event *event = text->first_event; event != NULL; event = event->next) {
            if (event->kind == EVENT_INCLUDE || event->kind == EVENT_GAP || event->kind == EVENT_HAS_INCLUDE)
                text_set_problem(&text->facts, text->facts.clean.start + event->start, "a directive",
                                 "that may read a file");
        }
    }
    if (graph->has_debug_information)
        graph->limit = "the program depends on the current directory (-g)";
}

/* ---- reasons and gaps ---- */

static const char *name_of(const struct graph_text *text)
{
    return text->path[0] != 0 ? text->path : "the source";
}

static void put_problem(struct bytes_writer *out, const struct graph_text *text)
{
    bytes_print(out, "%s", name_of(text));
    if (text->facts.problem_line != 0)
        bytes_print(out, " line %zu", text->facts.problem_line);
    bytes_print(out, " has %s, %s", text->facts.problem, text->facts.problem_clause);
}

static void put_gap_message(struct bytes_writer *out, const struct graph_text *text, const struct text_event *event)
{
    const char *quotes = event->form == HEADER_QUOTED ? "\"\"" : event->form == HEADER_ANGLE ? "<>" : "";
    if (event->target != NULL && event->target->facts.problem != NULL)
        put_problem(out, event->target);
    else
        bytes_print(out, "the #%s%.1s%.*s%s in %s line %zu %s", event->kind == EVENT_INCLUDE ? "include " : "", quotes,
                    (int)event->operand_size, event->operand, quotes[0] != 0 ? quotes + 1 : "", name_of(text),
                    text_line(&text->facts.clean, text->facts.clean.start + event->start),
                    event->gap != NULL ? event->gap : "is nested too deeply");
}

/* If the sources cannot have an id with any compiler, writes why. */
static void put_reason(struct bytes_writer *out, const struct source_graph *graph)
{
    if (graph->limit != NULL) {
        bytes_put_text(out, graph->limit);
    } else if (graph->option_problem != NULL) {
        bytes_print(out, "the options have %s, which no id can cover", graph->option_problem);
    } else {
        const struct graph_text *text = graph->first;
        while (text != NULL && (text->origin != TEXT_SOURCE || text->facts.problem == NULL))
            text = text->next;
        if (text != NULL)
            put_problem(out, text);
    }
}

/* ---- the result ---- */

/* Walks the sources, and appends their texts in order. */
static void walk_sources(struct source_graph *graph, struct inline_walk *walk)
{
    struct graph_text *text = graph->first;
    for (size_t i = 0; i < graph->input->source_count; ++i) {
        if (hermetic_kind_has_includes(graph->input->sources[i].kind)) {
            while (text != NULL && text->origin != TEXT_SOURCE)
                text = text->next;
            if (text == NULL)
                return;
            inline_walk_source(walk, text);
            text = text->next;
        }
        bytes_put(walk->out, 1, "");
    }
}

static ingot_status_t walk_sources_and_files(struct hermetic *hermetic, struct source_graph *graph)
{
    struct bytes_writer gap;
    struct inline_walk walk;
    bytes_writer_init(&gap, graph->arena.allocator);
    graph_find_equal_files(graph);
    /* No text may use the names of the macros that replace #pragma once. */
    static const char prefix[] = "INGOT_ONCE_";
    bool has_once = false;
    for (const struct graph_text *text = graph->first; text != NULL; text = text->next)
        has_once = has_once || text->facts.has_once;
    for (const struct graph_text *text = graph->first; has_once && text != NULL; text = text->next) {
        if (text->facts.clean.size != 0 &&
            memmem(text->facts.clean.start, text->facts.clean.size, prefix, sizeof(prefix) - 1) != NULL)
            graph->limit = "a text uses names that begin with INGOT_ONCE_";
    }
    graph_check_file_names(graph);
    ingot_status_t status = inline_walk_init(&walk, graph, &hermetic->texts);
    if (status == INGOT_SUCCESS)
        walk_sources(graph, &walk);
    if (walk.limit != NULL)
        graph->limit = walk.limit;
    if (status == INGOT_SUCCESS && graph->limit == NULL) {
        /* The files, in the order in which they were first written. */
        for (size_t i = 0; i < walk.count; ++i) {
            const struct graph_text *text = walk.order[i];
            if (text->file == NULL || text->shown == NULL)
                continue;
            bytes_put(&hermetic->files, DIGEST_SIZE, text->file->digest);
            bytes_put_framed_text(&hermetic->files, text->shown);
        }
    }
    if (graph->has_debug_information) {
        char path[WITNESS_PATH_SIZE];
        hermetic->has_directory = witness_get_current_directory(graph->witness, sizeof(path), path);
        if (hermetic->has_directory)
            digest_of(strlen(path), path, hermetic->directory);
        else
            graph->limit = "debug information names the current directory, whose path is not available";
    }
    if (status == INGOT_SUCCESS && walk.gap != NULL) {
        put_gap_message(&gap, walk.gap_text, walk.gap);
        hermetic->gap = bytes_take_text(&gap);
        status = hermetic->gap != NULL ? INGOT_SUCCESS : INGOT_OUT_OF_MEMORY;
    }
    if (graph->assembly != NULL)
        hermetic->assembly = memory_make_text(graph->arena.allocator, graph->assembly);
    if (graph->arena.failed || graph->witness->arena.failed || hermetic->files.failed || hermetic->texts.failed)
        status = INGOT_OUT_OF_MEMORY;
    bytes_writer_fini(&gap);
    return status;
}

static ingot_status_t conclude_resolution(struct hermetic *hermetic, struct source_graph *graph)
{
    struct bytes_writer reason;
    if (graph->arena.failed || graph->scratch.failed || graph->witness->arena.failed || graph->status != INGOT_SUCCESS)
        return INGOT_OUT_OF_MEMORY;
    bytes_writer_init(&reason, graph->arena.allocator);
    put_reason(&reason, graph);
    ingot_status_t status = INGOT_SUCCESS;
    hermetic->names_matter = graph->names_matter;
    if (reason.size == 0 && !reason.failed && !graph->input->is_final) {
        status = walk_sources_and_files(hermetic, graph);
        put_reason(&reason, graph);
    }
    if (status == INGOT_SUCCESS && (reason.size != 0 || reason.failed)) {
        memory_free_text(graph->arena.allocator, hermetic->gap); /* a gap does not matter then */
        hermetic->gap = NULL;
        hermetic->reason = bytes_take_text(&reason);
        status = hermetic->reason != NULL ? INGOT_SUCCESS : INGOT_OUT_OF_MEMORY;
    }
    bytes_writer_fini(&reason);
    return status;
}

void hermetic_init(struct hermetic *hermetic, const ingot_allocator_t *allocator)
{
    *hermetic = (struct hermetic){.reason = NULL};
    witness_init(&hermetic->witness, allocator);
    bytes_writer_init(&hermetic->digests, allocator);
    bytes_writer_init(&hermetic->files, allocator);
    bytes_writer_init(&hermetic->texts, allocator);
}

void hermetic_fini(struct hermetic *hermetic)
{
    const ingot_allocator_t *allocator = hermetic->files.allocator;
    witness_fini(&hermetic->witness);
    memory_free_text(allocator, hermetic->reason);
    memory_free_text(allocator, hermetic->gap);
    memory_free_text(allocator, hermetic->assembly);
    bytes_writer_fini(&hermetic->texts);
    bytes_writer_fini(&hermetic->files);
    bytes_writer_fini(&hermetic->digests);
    hermetic->reason = hermetic->gap = hermetic->assembly = NULL;
}

ingot_status_t hermetic_resolve(struct hermetic *hermetic, const struct hermetic_input *input)
{
    struct source_graph graph;
    graph_init(&graph, &hermetic->witness, hermetic->files.allocator, input);
    if (!graph.arena.failed && input->is_final)
        check_final_texts(&graph);
    else if (!graph.arena.failed)
        grow_graph(&graph);
    graph_check_composed_names(&graph);
    if (input->is_final && graph.refusal > graph.given_refusal && graph.limit == NULL)
        graph.limit = "the compiler may reach asm, whose assembler may read files";
    hermetic->scan_steps = graph.scan_steps;
    const ingot_status_t status = conclude_resolution(hermetic, &graph);
    for (struct graph_text *text = graph.first; text != NULL; text = text->next)
        known_file_release(text->file);
    arena_fini(&graph.scratch);
    arena_fini(&graph.arena);
    if (status == INGOT_SUCCESS && hermetic->reason == NULL && !input->is_final) {
        /* The digests of the texts, unless all are the sources themselves and names do not matter. */
        struct bytes_writer *digests = &hermetic->digests;
        bool is_needed = hermetic->names_matter;
        const char *text = (const char *)hermetic->texts.bytes;
        text_digests_begin(digests, hermetic->names_matter, hermetic->has_directory ? hermetic->directory : NULL);
        for (size_t i = 0; i < input->source_count; ++i) {
            const ingot_source_view_t *source = &input->sources[i];
            const size_t size = strlen(text);
            const bool is_source = !hermetic_kind_has_includes(source->kind) ||
                                   (size == source->size && (size == 0 || memcmp(text, source->bytes, size) == 0));
            text_digests_put(digests, hermetic->names_matter, source->name, is_source ? NULL : text, size);
            is_needed = is_needed || !is_source;
            text += size + 1;
        }
        if (!is_needed)
            digests->size = 0;
    }
    return hermetic->digests.failed ? INGOT_OUT_OF_MEMORY : status;
}
