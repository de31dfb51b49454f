/*
 * source_graph.h - the texts that sources can include, and what is needed to replace the includes in each of them.
 *
 * Everything is in the graph's arena and is freed with it. Used by one thread.
 */
#ifndef INGOT_CORE_HERMETIC_SOURCE_GRAPH_H
#define INGOT_CORE_HERMETIC_SOURCE_GRAPH_H

#include "core/base/bytes.h"
#include "core/hermetic/hermetic_input.h"
#include "core/hermetic/option_words.h"
#include "core/hermetic/text/macro_expand.h"
#include "core/memo/known_file.h"
#include "core/memo/witness.h"

struct include_record;
struct include_replay;

enum text_origin {
    TEXT_SOURCE,
    TEXT_HEADER, /* embedded */
    TEXT_FILE
};

enum event_kind {
    EVENT_INCLUDE,
    EVENT_GAP,           /* a directive that cannot be resolved: becomes an #error */
    EVENT_HAS_INCLUDE,   /* becomes 1 or 0 */
    EVENT_ONCE,          /* #pragma once */
    EVENT_SYSTEM_HEADER, /* #pragma GCC system_header */
    EVENT_IF,            /* opens a condition; like the next two, it replaces nothing */
    EVENT_ELSE,
    EVENT_ENDIF,
    EVENT_LINE_END /* the line's end of an #else, #elif or #endif; a gap if a #line is before it */
};

/* An event in a text. Events are in the order of appearance. */
struct text_event {
    struct text_event *next;
    enum event_kind kind;
    size_t start; /* start of the replaced part, in the clean text */
    size_t end;
    enum header_kind form; /* of an include; HEADER_NONE: computed from the operand */
    const char *operand;   /* the file name, or tokens, in the clean text */
    size_t operand_size;
    bool is_guard;                   /* the condition is the file's include guard */
    struct graph_text *target;       /* NULL: not resolved */
    const char *gap;                 /* why it was not resolved: a clause */
    bool stays_a_gap;                /* true if it stays a gap even if it could be resolved */
    const struct name_check *checks; /* assumptions of a computed include */
};

/* A #define or #undef of a text. */
struct scanned_macro {
    struct scanned_macro *next;
    struct macro_name name;
    const char *definition; /* everything after the name; NULL: it is an #undef */
    size_t size;
};

/* What a text alone determines, whatever includes it. Immutable after the scan: the memo keeps it with a file, and each
 * program copies the events. */
struct text_scan {
    struct clean_text clean;
    struct text_event *first_event;
    struct text_event **last_event;
    size_t event_count;
    struct scanned_macro *first_macro;
    struct scanned_macro **last_macro;
    bool names_matter;   /* like the graph's field of this name */
    bool hides_macros;   /* true if the text has #pragma push_macro */
    const char *problem; /* this and the fields up to has_once: like the text's fields */
    const char *problem_clause;
    size_t problem_line;
    const char *guard;
    size_t guard_size;
    bool has_once;
};

struct graph_text {
    struct graph_text *next;      /* the next of all texts, in the order found */
    struct graph_text *in_bucket; /* the next file in its bucket, by path */
    enum text_origin origin;
    const char *path;    /* as composed, or the name of a source or header */
    const char *normal;  /* of an embedded header: the name without "." and ".." */
    size_t header_index; /* of an embedded header: its index, as given */
    bool absent;         /* there is no such file */
    struct os_file_identity identity;
    struct known_file *file; /* a reference */
    const char *bytes;
    size_t size;
    struct clean_text clean;
    struct text_event *first_event;
    const char *problem; /* why the text cannot be resolved: a noun and a clause */
    const char *problem_clause;
    size_t problem_line;
    const char *guard; /* the name of the guard around the whole file, or NULL */
    size_t guard_size;
    bool has_once;
    struct graph_text *once_owner; /* the first text that is the same file; they share a mark */
    /* of the walk */
    size_t number;        /* number among the visited texts, from 1; 0: not visited */
    size_t assumed;       /* how often it was certainly included before this point */
    size_t record_number; /* of a file: its number among the recorded ones, from 1; 0: not recorded */
};

struct source_graph {
    struct arena arena;
    struct arena scratch;
    struct witness *witness;       /* the graph's only access to files */
    struct include_record *record; /* NULL: answers are not recorded */
    struct include_replay *replay; /* NULL: answers come from the file system */
    struct graph_text **replayed;  /* the texts of the replay's files; NULL before the first */
    const struct hermetic_input *input;
    struct macro_table macros;
    const struct directory *directories; /* the directories of -I, in order */
    const struct directory **last_directory;
    struct graph_text *first;
    struct graph_text *last;
    struct graph_text **headers; /* embedded */
    size_t header_count;
    struct graph_text **buckets;
    size_t file_count;
    size_t expansions;      /* expansions of computed includes so far */
    size_t expansion_steps; /* and their steps, with those of the program's other inputs */
    uint64_t total_bytes;
    bool cplusplus;             /* every source is C++ with raw strings */
    bool brings_assert;         /* a compiler may predefine assert, whose message contains __FILE__ */
    bool renames_files;         /* the compiler may be clang, which names a file as it last found it */
    bool names_matter;          /* names of files affect the result: __FILE__, debug information or the like */
    bool has_debug_information; /* the result contains debug information, which names the current directory */
    const char *limit;          /* the limit that was exceeded */
    const char *option_problem; /* a name in a definition that prevents an id */
    ingot_status_t status;
};

struct directory {
    const struct directory *next;
    const char *path;
    struct os_file_identity identity;
    bool is_late; /* the compiler may search it after all others, regardless of the position of its -I */
};

enum { PATH_BUCKETS = 1024 };
#define MAX_TOTAL_BYTES ((uint64_t)256 << 20)

struct graph_text *graph_add_text(struct source_graph *graph, enum text_origin origin, const char *path);
const char *const *graph_late_directories(const struct source_graph *graph);

/* equal_files.c: sets once_owner; sets the graph's limit if names matter and a
 * file or directory has two names. */
void graph_find_equal_files(struct source_graph *graph);
void graph_check_file_names(struct source_graph *graph);

/* text_scan.c: finds the events, definitions and special names of a text, and adds them to the graph. A file that is
 * known is not scanned again. */
void graph_scan(struct source_graph *graph, struct graph_text *text);
/* Returns a number that identifies how files are scanned. If it is equal, equal contents give equal scans. */
uint64_t graph_reading(const struct source_graph *graph);

/* special_names.c: returns what a name means regardless of the texts; sets *name if it means anything. */
enum special {
    NOT_SPECIAL,
    SPECIAL_PRAGMA,
    SPECIAL_TIME,
    SPECIAL_FILE,
    SPECIAL_LEVEL,
    SPECIAL_HAS_INCLUDE,
    SPECIAL_UNFOLLOWED
};
enum special name_special(const struct token *token, const char **name);
/* True if a name is ASCII. Some compilers treat other characters as white space, such as U+00A0 after __TIME__ or
 * before a #define. */
bool name_is_ascii(const struct token *token);
extern const char *const name_not_ascii;
bool name_has_pragma_word(size_t size, const char *text);
/* Finds special names in an option's definition. Returns false for a name that prevents an id. */
bool text_scan_definition(struct source_graph *graph, size_t size, const char *value, const char **name);

/* leftover_check.c: true if there may be an including directive outside of events, comments and literals; *at is its
 * place. Does not use the scanner, so it also finds what the scan missed. */
bool leftover_check(const struct source_graph *graph, const struct text_scan *text, const char **at);

/* include_search.c: sets the target of an include, or its gap: one of these sentences, or another one for a name that
 * is not searched for. */
extern const char include_not_found[];
extern const char include_not_certain[];
void include_search(struct source_graph *graph, const struct graph_text *text, struct text_event *event,
                    const struct header_name *name);
const char *include_normal_path(struct arena *arena, const char *path);

/* include_answers.c. Appends the answer that a search found to the graph's record. */
void include_record_add(struct source_graph *graph, const struct text_event *event);
/* Notes what the whole graph shows. Called when an input is resolved. */
void include_record_end(struct source_graph *graph);
/* Gives the event the next answer of the graph's replay. An answer that does not fit sets the graph's limit. */
void include_replay_next(struct source_graph *graph, struct text_event *event);

/* inline_walk.c: the state of replacing includes, one source at a time. */
struct inline_walk {
    struct source_graph *graph;
    struct bytes_writer *out;   /* NULL if only the shape is wanted */
    struct bytes_writer *shape; /* says what replaced each event, as u64s */
    struct graph_text **order;  /* visited */
    size_t count;
    size_t replaced; /* how many events */
    size_t moved;    /* how many of them shifted the following lines, which a #line corrected */
    size_t depth;
    uint64_t size;
    struct assumption *assumed; /* newest first */
    const char *limit;
    const struct graph_text *gap_text; /* the first gap */
    const struct text_event *gap;
};
ingot_status_t inline_walk_init(struct inline_walk *walk, struct source_graph *graph, struct bytes_writer *shape,
                                struct bytes_writer *out);
void inline_walk_source(struct inline_walk *walk, struct graph_text *source);

#endif
