/*
 * paths.h - the names in a store: which are ours, and how they are written.
 */
#ifndef INGOT_PERSIST_PATHS_H
#define INGOT_PERSIST_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NAMESPACE_MAX 64
/* Namespace, bucket, number and the longest file name, with their slashes and the NUL. */
#define PATH_CAPACITY 128

/* "[namespace/]bucket". */
void paths_bucket(char path[PATH_CAPACITY], const char *name_space, uint64_t bucket);
/* "<parent>/number". */
void paths_entry(char path[PATH_CAPACITY], const char *parent, uint32_t number);
/* "<parent>/name". Both are short enough by construction. */
void paths_join(char path[PATH_CAPACITY], const char *parent, const char *name);
/* The number alone. */
void paths_number(char text[PATH_CAPACITY], uint64_t number);
/* "<parent>/<pid>-<16 hex digits>". */
void paths_temporary(char path[PATH_CAPACITY], const char *parent, unsigned long process, uint64_t bits);

/* A number as it is written here: decimal, no sign, no leading zero, at most max. */
bool paths_parse_number(const char *name, uint64_t max, uint64_t *number);
bool paths_is_temporary(const char *name);
/* Whether it may be the name of a namespace. */
bool paths_is_namespace(const char *name);

#endif
