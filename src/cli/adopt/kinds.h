/*
 * kinds.h - what is known about the tools whose cache directories `ingot run --adopt` fills. It is a table: a new tool
 * needs a row, and no code.
 */
#ifndef INGOT_CLI_ADOPT_KINDS_H
#define INGOT_CLI_ADOPT_KINDS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/adopt/files.h"

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

/* Converts a file to the form in which it is stored, which depends neither on the directory's path nor on times. This
 * and the next function may replace the content's bytes. They return false if the file cannot be stored, or is not what
 * the rule says. `directory` is an absolute path. */
bool adopt_rule_to_stored(enum adopt_rule rule, const char *directory, struct adopt_content *content);
/* Converts a file from that form. `now_ns`: the time of the files of ninja that are written. */
bool adopt_rule_from_stored(enum adopt_rule rule, const char *directory, uint64_t now_ns,
                            struct adopt_content *content);

#endif
