/*
 * macro_expand.h - expands the operand of a computed include by the definitions in the texts and options.
 *
 * It is not known which definitions are active at the include, only that there are no others. The result therefore has
 * checks for the compiler: the macros that were expanded must be defined at the include, and the names that were kept
 * must not be. A question that no check can decide, such as which of two definitions is active, makes the result
 * doubtful.
 */
#ifndef INGOT_CORE_HERMETIC_TEXT_MACRO_EXPAND_H
#define INGOT_CORE_HERMETIC_TEXT_MACRO_EXPAND_H

#include "core/hermetic/text/macro_table.h"

enum header_kind { HEADER_NONE, HEADER_QUOTED, HEADER_ANGLE };

struct header_name {
    enum header_kind kind; /* HEADER_NONE: the tokens are not a file name */
    const char *text;      /* with a NUL */
    size_t size;
};

struct name_check {
    const struct name_check *next;
    const char *name;
    size_t name_size;
    bool is_defined; /* true if the compiler must find it defined */
};

struct expanded_include {
    struct header_name name;         /* in the scratch arena */
    const struct name_check *checks; /* in the table's arena */
    const char *doubt;               /* why the result cannot be trusted (a static string), or NULL */
    const char *doubt_name;          /* the name of the doubtful macro, doubt_size bytes */
    size_t doubt_size;
};

/* Resets scratch. Adds its work to *steps. If they exceed MAX_EXPANSION_STEPS (macro_body.h), the result is useless. */
void macro_expand(struct expanded_include *result, const struct macro_table *table, struct arena *scratch, size_t size,
                  const char *operand, size_t *steps);

#endif
