/*
 * options.h - what a compiler's option string says about files and macros.
 *
 * Options are separated by white space; double and single quotes group, a backslash takes the next character as it
 * is. Compilers differ here (PoCL knows no quotes), so a definition is kept in both readings where they differ.
 */
#ifndef INGOT_CORE_OPTIONS_H
#define INGOT_CORE_OPTIONS_H

#include "core/arena.h"

enum option_kind {
    OPTION_OTHER,
    OPTION_DIRECTORY, /* -I; value is the directory */
    OPTION_DEFINE,    /* -D; value is NAME, NAME=BODY or NAME(ARGUMENTS)=BODY */
    OPTION_UNDEFINE,  /* -U; value is the name */
    OPTION_INCLUDE,   /* -include; value is the file */
    OPTION_UNFOLLOWED /* reaches files in a way that is not followed; value is the option */
};

struct option {
    struct option *next;
    enum option_kind kind;
    bool removable;    /* an -I that every reading takes for nothing else */
    const char *start; /* in the option string, value included */
    size_t size;
    const char *value;     /* unquoted */
    const char *raw_value; /* as written; a different reading of value, or equal */
};

/* In order; NULL for none, and when the arena failed. */
struct option *options_parse(struct arena *arena, const char *options);

#endif
