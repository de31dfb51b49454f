/*
 * macro_expand.h - expands the operand of a computed include with the definitions in the texts and options.
 *
 * It is not known which of these definitions are active at the include; it is only known that there are no others. So
 * the result has checks for the compiler: the macros that were expanded must be defined at the include, and the names
 * that were kept must not be. A question that such a check cannot decide, such as which of two definitions is active,
 * makes the result doubtful.
 */
#ifndef INGOT_CORE_HERMETIC_TEXT_MACRO_EXPAND_H
#define INGOT_CORE_HERMETIC_TEXT_MACRO_EXPAND_H

#include "core/hermetic/text/macro_table.h"

/* Limit of the work for all computed includes of a program. A step is a byte or token that is made, or a comparison
 * of two names. For comparison, hashcat's programs take at most 12,594 steps. */
enum { MAX_EXPANSION_STEPS = 50000000 };

enum header_kind { HEADER_NONE, HEADER_QUOTED, HEADER_ANGLE };

struct header_name {
    enum header_kind kind; /* HEADER_NONE if the tokens are not a file name */
    const char *text;      /* ends with a NUL */
    size_t size;
};

struct name_check {
    const struct name_check *next;
    const char *name;
    size_t name_size;
    bool is_defined; /* true if the name must be defined, false if it must not be */
};

struct expanded_include {
    struct header_name name;         /* in the scratch arena */
    const struct name_check *checks; /* in the table's arena */
    const char *doubt;               /* why the result cannot be trusted (a static string), or NULL */
    const char *doubt_name;          /* the doubtful macro's name, of doubt_size bytes */
    size_t doubt_size;
};

/* Expands an operand. Resets the scratch arena. Adds the steps of its work to *steps. If these exceed
 * MAX_EXPANSION_STEPS, the result is incomplete and must not be used. */
void macro_expand(struct expanded_include *result, const struct macro_table *table, struct arena *scratch, size_t size,
                  const char *operand, size_t *steps);

#endif
