/*
 * macro_expand.h - the operand of a computed include, expanded by the definitions that the texts and options hold.
 *
 * Which definitions are in force where the include stands is not known, only that no other is. So the result comes with
 * checks: the macros that it used must be defined there, and the names that it took for plain words must not be. The
 * compiler makes them. What they cannot tell, such as which of two definitions is in force, is a doubt.
 */
#ifndef INGOT_CORE_HERMETIC_MACRO_EXPAND_H
#define INGOT_CORE_HERMETIC_MACRO_EXPAND_H

#include "core/hermetic/macro_table.h"

enum header_kind { HEADER_NONE, HEADER_QUOTED, HEADER_ANGLE };

struct header_name {
    enum header_kind kind; /* HEADER_NONE: the tokens are no file name */
    const char *text;      /* with a NUL */
    size_t size;
};

struct name_check {
    const struct name_check *next;
    const char *name;
    size_t name_size;
    bool is_defined; /* what it must be */
};

struct expanded_include {
    struct header_name name;         /* in the scratch arena */
    const struct name_check *checks; /* in the table's arena */
    const char *doubt;               /* why the result cannot be trusted: a static clause, or NULL */
    const char *doubt_name;          /* the macro's name in it, doubt_size bytes */
    size_t doubt_size;
};

/* Resets scratch. */
void macro_expand(struct expanded_include *result, const struct macro_table *table, struct arena *scratch, size_t size,
                  const char *operand);

#endif
