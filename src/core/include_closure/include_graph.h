/*
 * include_graph.h - the texts of one include closure and what each includes; the parts of include_closure.c share it.
 *
 * Everything lives in the closure's arena and ends with it. Used by one thread.
 */
#ifndef INGOT_CORE_INCLUDE_GRAPH_H
#define INGOT_CORE_INCLUDE_GRAPH_H

#include "core/bytes.h"
#include "core/include_closure/macro_table.h"
#include "core/include_closure/options.h"

#include <ingot/backend.h>

enum text_origin {
    TEXT_OPTIONS, /* stands for what the options include and define */
    TEXT_SOURCE,
    TEXT_HEADER, /* embedded */
    TEXT_FILE
};

struct include_edge;

struct graph_text {
    struct graph_text *next;      /* all texts, in the order found */
    struct graph_text *in_bucket; /* files, by path */
    enum text_origin origin;
    const char *path;            /* as composed; the name of a source or header */
    const char *normal;          /* of an embedded header: the name without "." and ".." */
    bool absent;                 /* remembers that there is no such file */
    struct bytes_writer content; /* of a file */
    const char *bytes;
    size_t size;
    struct clean_text clean;
    struct include_edge *first_edge; /* in order of appearance */
    struct include_edge *last_edge;
    const char *problem; /* why it cannot be followed: a noun, and a clause about it */
    const char *problem_clause;
    size_t problem_line;
    bool visited;
    size_t number; /* in the result, among files from 1, among headers from 1 */
};

struct include_edge {
    struct include_edge *next;
    enum header_kind kind; /* HEADER_NONE: computed from operand */
    const char *operand;   /* the file name, or tokens, in a text */
    size_t operand_size;
    const char *at; /* where in the text; NULL in the options */
    bool conditional;
    struct graph_text **targets; /* every text that it may mean */
    size_t target_count;
    size_t target_capacity;
    const char *doubt; /* owned by the arena */
};

struct include_graph {
    struct arena arena;
    struct arena scratch;
    struct macro_table macros;
    const struct option *options;
    struct graph_text *first;
    struct graph_text *last;
    struct graph_text **headers; /* embedded */
    size_t header_count;
    struct graph_text **buckets;
    size_t file_count;
    uint64_t total_bytes;
    bool cplusplus;          /* every source is C++ with raw strings */
    bool brings_assert;      /* some compiler may define assert by itself, whose message has __FILE__ */
    bool system_directories; /* some compiler may look there */
    bool names_matter;       /* __FILE__ or the like */
    const char *limit;       /* which bound was passed */
    ingot_status_t status;
};

enum { MAX_FILES = 10000, PATH_BUCKETS = 1024 };
#define MAX_TOTAL_BYTES ((uint64_t)256 << 20)

struct graph_text *graph_add_text(struct include_graph *graph, enum text_origin origin, const char *path);
struct include_edge *graph_add_edge(struct include_graph *graph, struct graph_text *text, enum header_kind kind,
                                    size_t size, const char *operand);

/* include_scan.c: the directives, definitions and special names of a text; adds edges without targets. */
void include_scan(struct include_graph *graph, struct graph_text *text);
/* The special names in an option's definition. */
void include_scan_option(struct include_graph *graph, struct graph_text *text, const char *value);

/* include_search.c: a path, lexically without "." and with ".." taken back. */
const char *include_normal_path(struct arena *arena, const char *path);
/* Adds the texts that a file name may mean in text to the edge's targets. */
void include_search(struct include_graph *graph, const struct graph_text *text, struct include_edge *edge,
                    const struct header_name *name);

#endif
