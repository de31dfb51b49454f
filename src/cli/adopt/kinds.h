/*
 * kinds.h - what is known about the tools whose cache directories `ingot run --adopt` fills. It is a table: a new tool
 * needs a row, and no code.
 */
#ifndef INGOT_CLI_ADOPT_KINDS_H
#define INGOT_CLI_ADOPT_KINDS_H

#include <stdbool.h>

/* What to do with a file. */
enum adopt_rule {
    ADOPT_REPLACE,    /* its name says what it contains, so a file that differs from the stored one is damaged */
    ADOPT_LEAVE,      /* the tool changes it, so a file that exists is left alone */
    ADOPT_RELOCATE,   /* it contains the directory's path */
    ADOPT_NINJA_LOG,  /* a log of ninja, with the times of the outputs */
    ADOPT_NINJA_DEPS, /* ninja's list of inputs, with the times of the outputs */
    ADOPT_SKIP        /* it is not stored */
};

struct adopt_pattern {
    const char *pattern; /* for fnmatch and a file's name without its folder; NULL: the end of the list */
    enum adopt_rule rule;
};

struct adopt_kind {
    const char *name;
    const char *packages;  /* of Python, separated by spaces. Their versions are in the key. The first must exist. */
    const char *compilers; /* commands whose version is in the key, separated by spaces */
    bool has_host_code;    /* files depend on the host's processor */
    struct adopt_pattern patterns[5]; /* other files have ADOPT_REPLACE */
};

/* Returns the kind with a name, or NULL. */
const struct adopt_kind *adopt_kind_find(const char *name);
/* Returns all names, separated by commas. The caller frees the text. */
char *adopt_kind_names(void);
/* Returns the rule for a file; `path` is relative to the directory. */
enum adopt_rule adopt_kind_rule(const struct adopt_kind *kind, const char *path);

#endif
