/*
 * paths.h - recognizes and writes the names in a store.
 */
#ifndef INGOT_PERSIST_DIRECTORY_FORMAT_PATHS_H
#define INGOT_PERSIST_DIRECTORY_FORMAT_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NAMESPACE_MAX 64
/* The longest path: namespace, bucket, number and the longest file name, with their slashes and the NUL. */
#define PATH_CAPACITY 128
/* The file whose bytes processes lock; it has no content. */
#define PATHS_LOCK "lock"
/* The recipe of what the programs are compiled from, and the new file that a prune writes to replace it. */
#define PATHS_RECIPE "programs.recipe"
#define PATHS_RECIPE_REWRITE "programs.recipe.pruned"
/* From here to twice this offset, each byte of the lock file stands for a session. */
#define PATHS_SESSION_MIN (UINT64_C(1) << 62)
/* Likewise, each byte from here on stands for the id of a program that is being built. */
#define PATHS_BUILD_MIN (UINT64_C(1) << 61)

/* "[namespace/]bucket". */
void paths_bucket(char path[PATH_CAPACITY], const char *name_space, uint64_t bucket);
/* "<parent>/number". */
void paths_entry(char path[PATH_CAPACITY], const char *parent, uint32_t number);
/* Writes "<parent>/<name>". Parent and name are short enough by construction. */
void paths_join(char path[PATH_CAPACITY], const char *parent, const char *name);
/* Writes the number alone. */
void paths_number(char text[PATH_CAPACITY], uint64_t number);
/* Writes "<parent>/<16 hex digits of session>-<number>". */
void paths_temporary(char path[PATH_CAPACITY], const char *parent, uint64_t session, uint64_t number);

/* Parses a number as a store writes it: decimal, no sign, no leading zero, at most max. */
bool paths_parse_number(const char *name, uint64_t max, uint64_t *number);
bool paths_is_temporary(const char *name, uint64_t *session);
/* True for a temporary name of version 1: "<pid>-<16 hex digits>". */
bool paths_is_old_temporary(const char *name);
/* True if name may be a namespace's. */
bool paths_is_namespace(const char *name);

#endif
