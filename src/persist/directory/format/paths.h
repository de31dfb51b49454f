/*
 * paths.h - writes and recognizes the names of the files and directories in a store.
 */
#ifndef INGOT_PERSIST_DIRECTORY_FORMAT_PATHS_H
#define INGOT_PERSIST_DIRECTORY_FORMAT_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NAMESPACE_MAX 64
/* The size of the longest path: a namespace, bucket, number and file name, with the slashes and the NUL. */
#define PATH_CAPACITY 128
/* The file in which processes lock bytes. It has no content. */
#define PATHS_LOCK "lock"
/* The recipe of a namespace's programs, which says what they are compiled from, and the new file that replaces it when
 * it is pruned. */
#define PATHS_RECIPE "programs.recipe"
#define PATHS_RECIPE_REWRITE "programs.recipe.pruned"
/* The bytes of the lock file from this offset up to twice this offset stand for programs that are being built
 * (build_lock.h). */
#define PATHS_BUILD_MIN (UINT64_C(1) << 61)
/* The bytes from this offset stand for the places of builds (build_lock.h). */
#define PATHS_PLACE_MIN (UINT64_C(1) << 59)

/* Writes "[<namespace>/]<bucket>". */
void paths_bucket(char path[PATH_CAPACITY], const char *name_space, uint64_t bucket);
/* Writes "<parent>/<number>". */
void paths_entry(char path[PATH_CAPACITY], const char *parent, uint32_t number);
/* Writes "<parent>/<name>". Callers pass no names for which PATH_CAPACITY is too small. */
void paths_join(char path[PATH_CAPACITY], const char *parent, const char *name);
/* Writes only the number. */
void paths_number(char text[PATH_CAPACITY], uint64_t number);
/* Writes "<parent>/<16 hex digits of number>". */
void paths_temporary(char path[PATH_CAPACITY], const char *parent, uint64_t number);

/* Parses a number that is written as in a store: decimal, without a sign or leading zeros, and at most `max`. */
bool paths_parse_number(const char *name, uint64_t max, uint64_t *number);
/* True if the name is one of paths_temporary, or one of an earlier version, which ended in "-<number>". */
bool paths_is_temporary(const char *name);
/* True if a namespace may have this name. */
bool paths_is_namespace(const char *name);

#endif
