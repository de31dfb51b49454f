/*
 * base.h - what all commands use, grouped by file.
 */
#ifndef INGOT_CLI_BASE_BASE_H
#define INGOT_CLI_BASE_BASE_H

#include <ingot/ingot.h>
#include <ingot/trust.h>

#include <cjson/cJSON.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- the tool's exit statuses, which ingot(1) documents, and the values of the options that all commands have, which
 * usage/command.c describes. ---- */

enum exit_code {
    EXIT_DONE = 0,
    /* The command worked, but the answer is negative: bad entries, no such entry, a miss. */
    EXIT_FINDING = 1,
    EXIT_USAGE = 2,    /* Invalid options, arguments or environment. */
    EXIT_NO_STORE = 3, /* There is no store, or it cannot be opened. */
    EXIT_FAILED = 4,   /* Something failed during the work. */
    /* Only from `ingot run`: the command was not started. Otherwise the command's status is returned. */
    EXIT_RUN_FAILED = 125,
    EXIT_INTERRUPTED = 130 /* The status that a shell reports for SIGINT. */
};

/* In the struct of each command's own values, this is the first member. */
struct common_options {
    const char *directory; /* NULL: from the environment */
    const char *name_space;
    bool is_json;
    ingot_persist_trust_policy_t trust_policy; /* the weakest policy: INGOT_PERSIST_TRUST may name a stricter one */
    bool ignores_trust_variable;               /* ignores INGOT_PERSIST_TRUST */
    const char *key_files;                     /* NULL: those of INGOT_PERSIST_KEYS */
    uint64_t *old_count;                       /* if not NULL, gets the number of directories that count_old counts */
};

/* ---- text.c: allocations that end the process if there is no memory, because the tool has nothing to undo. ---- */

/* These never return NULL. Free all blocks with free. memory_get returns zeros. */
void *memory_get(size_t size);
char *memory_copy_text(const char *text);
void *memory_copy(size_t size, const void *bytes);
/* Makes room for one more item of item_size bytes after the first `count`. */
void *memory_grow(void *items, size_t count, size_t item_size);

/* ---- prints text from a store, which may contain anything, to a terminal. ---- */

/* The indent of a text that must begin no line: line ends and tabs become \n and \t. */
#define TEXT_ONE_LINE UINT_MAX

/* Prints to a stream. Characters that control the terminal or change the direction of text are escaped, as \x1b and
 * \u202e; after a line end, the next line begins with `indent` spaces. */
void text_put(FILE *stream, const char *text, unsigned indent);
/* True if `part` occurs in `text`, ignoring case. */
bool text_contains(const char *text, const char *part);
/* True if `text` ends in `end`. */
bool text_ends_in(const char *text, const char *end);
/* Returns the width of `text` in columns; every UTF-8 character counts as one. */
size_t text_width(const char *text);
/* Cuts a text that is wider; it then ends with "..". */
void text_cut(char *text, size_t width);
/* Appends `separator` and `more` to `text`, which it frees, and returns the new text. If `text` is NULL, returns a copy
 * of `more`. */
char *text_append(char *text, const char *separator, const char *more);

/* Returns the words of `text` that are also in `other`, or those that are not, separated by blanks; the caller frees
 * them. NULL if there are none. Both texts may be NULL. Adds the number of words to *count, unless it is NULL. */
char *text_select_words(const char *text, const char *other, bool is_in_other, size_t *count);

/* ---- units.c: formats sizes, ages and times. ---- */

enum { UNITS_TEXT_SIZE = 48 };

/* Formats a size: "17 B", "4.0 KiB". */
const char *units_bytes(uint64_t bytes, char text[UNITS_TEXT_SIZE]);
/* Formats how long ago a time was: "3h", "12d", or "0s" for a time in the future. */
const char *units_age(uint64_t since_ns, uint64_t now_ns, char text[UNITS_TEXT_SIZE]);
/* Formats a duration: "230.0 us", "2.4 s", "3m 05s", "1h 03m". */
const char *units_duration(uint64_t duration_ns, char text[UNITS_TEXT_SIZE]);
/* Formats a time: "2026-03-01T12:30:05Z". */
const char *units_time(uint64_t since_epoch_ns, char text[UNITS_TEXT_SIZE]);
/* Reads what units_time formats, in whole seconds; 0 if it is something else. */
uint64_t units_read_time(const char *text);
uint64_t units_now_ns(void);

/* ---- json.c: extends cJSON: allocations that never fail, 64-bit integers, times, and printing. ---- */

/* Must be called before any cJSON function. Afterwards, functions that create or add values never return NULL. */
void json_init(void);
/* The functions that add a member do not copy its name, which must be a constant. */
void json_add_u64(cJSON *object, const char *name, uint64_t value); /* exact, not rounded to a double */
void json_add_time(cJSON *object, const char *name, uint64_t since_epoch_ns);
/* Returns a non-negative number, or 0 for any other value. */
uint64_t json_u64_of(const cJSON *value);
/* Returns the value of a member that is a non-negative number, or 0 if there is none. */
uint64_t json_get_u64(const cJSON *object, const char *name);
/* Returns the value of a member that is a string, or NULL. */
const char *json_text(const cJSON *object, const char *name);
/* Adds a string. If `text` is NULL, adds null. */
void json_add_text(cJSON *object, const char *name, const char *text);
/* Returns what a function of the library that describes bytes as JSON says about them, or NULL on failure. */
cJSON *json_describe(ingot_status_t (*describe)(size_t size, const uint8_t *bytes, size_t *text_size, char *text),
                     size_t size, const uint8_t *bytes);
/* Prints the value and deletes it. A list is printed with an item per line, and its text is never entirely in memory.
 */
void json_print(cJSON *json);

/* ---- output.c: prints what a command reports: one JSON object, which is printed as it is with --json, and otherwise
 * as text by a pattern. So a command describes its results once. */

/* clang-format off */
/*
 * In a pattern,
 *   {NAME}          is the value of a member; {} is the item of a list itself, and {@} its name;
 *   {NAME:FORMAT}   is the value as FORMAT says: size, duration (of nanoseconds) or duration_ms, time_ms (since 1970),
 *                   age (of a time), short (the first 12 characters), or for a text, the column in which its second
 *                   and further lines begin, otherwise 2;
 *   {NAME|TEXT}     is TEXT if the member is null or missing;
 *   [NAME?PATTERN]  is printed only if the member is neither null, false, 0, empty nor missing;
 *   [NAME!PATTERN]  is printed only if it is one of those;
 *   <NAME*PATTERN>  is printed for each item of a list, or each member of an object.
 */
/* clang-format on */

/* Prints an object by a pattern. */
void output_put(FILE *stream, const char *pattern, const cJSON *json);
/* Returns what a pattern makes of an object, without line ends of its texts. The caller frees it. */
char *output_text(const char *pattern, const cJSON *json);
/* Prints a command's object, or each object of its list, as JSON or by a pattern, and deletes it. */
void output_print(cJSON *json, bool is_json, const char *pattern);
/* Writes what is left of standard output. Returns false, and prints a message, if any of the output was lost. */
bool output_finish(void);

/* ---- table.c: prints JSON objects as the rows of a table, in aligned columns on standard output. On a terminal, long
 * cells are cut so that a row fits, and titles and the statuses of bad entries have colors. */

struct table_column {
    const char *title;
    const char *pattern; /* of a cell (above); an empty cell shows "-" */
    bool is_number;      /* aligned to the right */
};

/* Prints all objects of a list as a table, and nothing if there are none. */
void table_print_list(const cJSON *list, size_t column_count, const struct table_column *columns);

/* ---- progress.c: shows the progress of long work on standard error, if that is a terminal, and makes it end after the
 * current entry when the user presses Ctrl-C.
 *
 * The only reason for the latter is that the findings so far are then still reported. Killing the process at any point
 * would not harm a store. A second Ctrl-C kills the process. */

struct progress {
    const char *what;
    uint64_t shown_ns; /* when the line was last written; 0: not yet */
    bool is_shown;
};

void progress_init(struct progress *progress, const char *what);
/* Writes the line, at most ten times per second. */
void progress_say(struct progress *progress, const char *text);
/* Writes the line with a number of entries and their size. total: 0 if unknown. */
void progress_tell(struct progress *progress, uint64_t done, uint64_t total, uint64_t bytes);
/* Clears the line, so that the next output starts on an empty line. */
void progress_fini(struct progress *progress);

void interrupt_catch(void);
bool interrupt_seen(void);

#endif
