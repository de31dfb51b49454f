/*
 * source_graph.h - defines the graph of texts that sources can include, and declares the functions that build and use
 * it.
 *
 * The graph also has what is needed to replace the includes in each text. Everything is in the graph's arena and is
 * freed with it. A graph is used by one thread.
 */
#ifndef INGOT_CORE_HERMETIC_SOURCE_GRAPH_H
#define INGOT_CORE_HERMETIC_SOURCE_GRAPH_H

#include "core/base/bytes.h"
#include "core/hermetic/hermetic_input.h"
#include "core/hermetic/option_words.h"
#include "core/hermetic/text/macro_expand.h"
#include "core/memo/known_file.h"
#include "core/memo/witness.h"

enum text_origin {
    TEXT_SOURCE,
    TEXT_HEADER, /* an embedded header */
    TEXT_FILE
};

enum event_kind {
    EVENT_INCLUDE,
    EVENT_GAP,           /* a directive that cannot be resolved and becomes an #error */
    EVENT_HAS_INCLUDE,   /* a __has_include(...), which becomes 1 or 0 */
    EVENT_ONCE,          /* #pragma once */
    EVENT_SYSTEM_HEADER, /* #pragma GCC system_header */
    EVENT_IF,            /* begins a condition; nothing replaces this event or the next two */
    EVENT_ELSE,
    EVENT_ENDIF,
    EVENT_LINE_END /* end of the line of an #else, #elif or #endif; a gap if a #line precedes it */
};

/* A place in a text that matters for resolving includes. Most are replaced. Events are in the order of their places. */
struct text_event {
    struct text_event *next;
    enum event_kind kind;
    size_t start; /* offset in the clean text at which the replaced part starts */
    size_t end;
    enum header_kind form; /* form of an include's file name; HEADER_NONE if it is computed from the operand */
    const char *operand;   /* the file name, or the tokens of a computed include, in the clean text */
    size_t operand_size;
    bool is_guard;                   /* true if the condition is the include guard of the whole file */
    struct graph_text *target;       /* the included text; NULL if it is not resolved */
    const char *spelled;             /* the included name, as the directive has it; NULL before the search */
    const char *gap;                 /* a clause that says why it is not resolved, or NULL */
    bool stays_a_gap;                /* true if `gap` does not depend on the search, so that the event remains a gap
                                      * even if a file is found */
    const struct name_check *checks; /* checks of what a computed include assumes */
};

/* A #define or #undef in a text. */
struct scanned_macro {
    struct scanned_macro *next;
    struct macro_name name;
    const char *definition; /* everything after the name; NULL for an #undef */
    size_t size;
};

/* What is known of a text. */
struct text_facts {
    struct clean_text clean;
    const char *problem; /* a noun that says what prevents resolving the text, or NULL; problem_clause continues it */
    const char *problem_clause;
    size_t problem_line;
    const char *guard; /* the name of the include guard around the whole file, or NULL */
    size_t guard_size;
    bool has_once;
};

/* What depends only on a text, not on what includes it. Immutable after the scan: the memo keeps it with a file, and
 * each program copies the events. */
struct text_scan {
    struct text_facts facts;
    struct text_event *first_event;
    struct text_event **last_event;
    size_t event_count;
    struct scanned_macro *first_macro;
    struct scanned_macro **last_macro;
    bool names_matter; /* like source_graph.names_matter, and so are has_paste and has_beginning */
    bool hides_macros; /* true if the text has #pragma push_macro */
    bool has_paste;
    bool has_beginning;
    size_t steps; /* number of bytes that the scan looked at; a byte may count several times */
};

/* The definition in a -D option, with or without its quotes. */
struct definition {
    const struct definition *next;
    struct clean_text text;
};

struct graph_text {
    struct graph_text *next;      /* next in the list of all texts, in the order in which they were found */
    struct graph_text *in_bucket; /* next file in the same bucket of paths */
    enum text_origin origin;
    const char *path;        /* the path under which a file was found, or the name of a source or embedded header */
    const char *shown;       /* the name in line markers; NULL if the text was not written */
    const char *normal;      /* an embedded header's name, without "." and ".." */
    bool absent;             /* true if there is no such file */
    struct known_file *file; /* holds a reference; NULL unless the text was read from a file */
    const char *bytes;
    size_t size;
    struct text_facts facts;
    struct text_event *first_event;
    struct graph_text *once_owner; /* the first text that is the same file; such texts share the macro that replaces
                                    * #pragma once */
    /* the walk (inline_walk.c) sets the fields below */
    size_t number;  /* number of the text in the order of visits, from 1; 0 if it was not visited */
    size_t assumed; /* number of current assumptions that the text has already been included */
};

/* How the compiler refuses the keyword asm (assembly_check.c). */
enum asm_refusal { ASM_IS_ACCEPTED, ASM_IS_A_MACRO, ASM_IS_POISONED };

struct source_graph {
    struct arena arena;
    struct arena scratch;
    struct witness *witness; /* the graph's only access to files */
    const struct hermetic_input *input;
    struct macro_table macros;
    const struct directory *directories; /* the directories of -I, in order */
    const struct directory **last_directory;
    const struct definition *definitions;
    struct graph_text *first;
    struct graph_text *last;
    struct graph_text **headers; /* embedded headers */
    size_t header_count;
    struct graph_text **buckets;
    size_t file_count;
    size_t expansions;      /* number of expansions of computed includes so far */
    size_t expansion_steps; /* steps of these expansions */
    uint64_t total_bytes;
    bool cplusplus;             /* true if every source is C++ with raw strings */
    bool brings_assert;         /* true if a compiler may predefine assert, whose message contains __FILE__ */
    bool renames_files;         /* true if the compiler may be clang, for which __FILE__ is the name under which it last
                                 * found the file */
    bool names_matter;          /* true if names of files affect the result: through __FILE__, debug information or
                                 * the like */
    bool has_debug_information; /* true if the result contains debug information, which names the current directory */
    bool has_paste;             /* true if a text or an option has ## */
    bool has_beginning; /* true if a text or an option has a name with which a special name begins, such as __TI */
    enum asm_refusal refusal;       /* how the compiler refuses the keyword asm */
    enum asm_refusal given_refusal; /* how the weakest of the final texts begins to refuse it */
    const char *assembly;           /* says that the compiler reached the keyword, if it must refuse it */
    size_t scan_steps;              /* sum of the scans' steps */
    const char *limit;          /* a clause that says why the graph has no result, such as an exceeded limit, or NULL */
    const char *option_problem; /* a name in an option's definition that prevents an id, or NULL */
    ingot_status_t status;
};

struct directory {
    const struct directory *next;
    const char *path;
    struct os_file_identity identity;
    bool is_late; /* true if the compiler may search it after all others, regardless of the position of its -I */
};

enum { PATH_BUCKETS = 1024 };
#define MAX_TOTAL_BYTES ((uint64_t)256 << 20)

/* True for a text that the compiler gets. Others are gaps, or prevent an id. */
static inline bool graph_text_is_written(const struct graph_text *text)
{
    return !text->absent && text->facts.problem == NULL && text->facts.clean.start != NULL;
}

struct graph_text *graph_add_text(struct source_graph *graph, enum text_origin origin, const char *path);
const char *const *graph_late_directories(const struct source_graph *graph);

/* equal_files.c: graph_find_equal_files sets once_owner in all texts. graph_check_file_names sets the graph's limit
 * if names matter and a file or directory has two names. */
void graph_find_equal_files(struct source_graph *graph);
void graph_check_file_names(struct source_graph *graph);

/* text_scan.c: finds the events, definitions and special names of a text, and adds them to the graph. A file that
 * was scanned before is not scanned again. */
void graph_scan(struct source_graph *graph, struct graph_text *text);
/* Returns a number that identifies the rules by which texts are scanned. With equal numbers, equal contents give
 * equal scans. */
uint64_t graph_reading(const struct source_graph *graph);

/* special_names.c: returns the special meaning of a name, which does not depend on the texts. If there is one, sets
 * *name. */
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
/* True if a name consists of ASCII characters. Some compilers treat other characters as white space, such as U+00A0
 * after __TIME__ or before a #define. */
bool name_is_ascii(const struct token *token);
extern const char *const name_not_ascii;
/* True if the text is the beginning of a special name, but not all of it. */
bool name_is_beginning(size_t size, const char *text);
/* Returns the special name at a position, which counts from 0, or NULL at the end. */
const char *name_special_at(size_t position, enum special *special);
/* True if what follows a _Pragma is a plain literal in parentheses, and such a pragma neither includes a file nor hides
 * a macro. Does not move the scanner. */
bool pragma_is_harmless(const struct scanner *scanner);
/* Finds special names in the definition of an option. Returns false and sets *name for a name that prevents an id. */
bool text_scan_definition(struct source_graph *graph, size_t size, const char *value, const char **name);

/* In leftover_check.c. Looks for a directive that may include a file and that the scan has missed: one outside of the
 * events, comments and literals of the text. If there is one, returns true and sets *at to its place. Does not use the
 * scanner, so it does not repeat a mistake of the scanner. */
bool leftover_check(const struct source_graph *graph, struct text_scan *text, const char **at);

/* hermetic.c: sets the problem of a text, unless it has one. `at` is the place in the clean text, or NULL. */
void text_set_problem(struct text_facts *facts, const char *at, const char *noun, const char *clause);

/* composed_names.c: considers names that macros may put together from parts, such as __TI ## ME__. Called when all
 * texts are known. Sets names_matter, and the graph's limit if no id can cover such a name. */
void graph_check_composed_names(struct source_graph *graph);
/* True if macros may put together this name. The graph must have a ##. */
bool graph_may_compose(struct source_graph *graph, const char *name);

/* assembly_check.c: sets refusal and assembly. */
void graph_check_assembly(struct source_graph *graph);
/* True for a name that begins an asm statement. */
bool name_is_asm(const struct token *token);

/* include_search.c: sets the target of an include, or its gap, which is one of the two clauses below, or another clause
 * for a name that is not searched for. */
extern const char include_not_found[];
extern const char include_not_certain[];
void include_search(struct source_graph *graph, const struct graph_text *text, struct text_event *event,
                    const struct header_name *name);
const char *include_normal_path(struct arena *arena, const char *path);

/* inline_walk.c: the state of replacing includes, for one source after the other. */
struct inline_walk {
    struct source_graph *graph;
    struct bytes_writer *out;
    struct graph_text **order; /* the visited texts */
    size_t count;
    size_t replaced; /* number of places (struct text_event), such as includes, that were replaced */
    size_t moved;    /* number of replacements that shifted the following lines, which a #line corrected */
    size_t depth;
    struct assumption *assumed; /* the newest assumption */
    const char *limit;
    const struct graph_text *gap_text; /* the text with the first gap; NULL if there is none */
    const struct text_event *gap;
};
/* Returns how the text begins to refuse the keyword asm, and sets *size to the size of that beginning. */
enum asm_refusal inline_find_refusal(const struct source_graph *graph, const ingot_source_view_t *source, size_t *size);
ingot_status_t inline_walk_init(struct inline_walk *walk, struct source_graph *graph, struct bytes_writer *out);
void inline_walk_source(struct inline_walk *walk, struct graph_text *source);

#endif
