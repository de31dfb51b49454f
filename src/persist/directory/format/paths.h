/*
 * paths.h - writes and recognizes the names of the files and directories in a store.
 */
#ifndef INGOT_PERSIST_DIRECTORY_FORMAT_PATHS_H
#define INGOT_PERSIST_DIRECTORY_FORMAT_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "persist/base/base.h"

#define NAMESPACE_MAX 64
/* The size of the longest path: a namespace, shard, entry and file name, with the slashes and the NUL. */
#define PATH_CAPACITY 128
#define PATHS_SHARD_COUNT 256u
/* The size of the text that paths_place writes, with the NUL. */
#define PATHS_PLACE_SIZE 34u
#define PATHS_WANTED "wanted"   /* the folder of a namespace's wishes */
#define PATHS_EVICTED "evicted" /* the store's last evictions */
/* The file in which processes lock bytes. It has no content. */
#define PATHS_LOCK "lock"
/* The bytes of the lock file from this offset up to twice this offset stand for programs that are being built
 * (build_lock.c). */
#define PATHS_BUILD_MIN (UINT64_C(1) << 61)
/* The bytes from this offset stand for the places of builds (build_lock.c). */
#define PATHS_PLACE_MIN (UINT64_C(1) << 59)

/* Writes "<hh>/<30 hex digits>", an entry's place in its namespace. */
void paths_place(char text[PATHS_PLACE_SIZE], const struct checksum *hash);
/* Reads such a text. Returns false if it is none. */
bool paths_parse_place(const char *text, struct checksum *hash);
bool paths_parse_shard(const char *name, uint8_t *shard);
/* Reads the name of an entry in its shard, and sets all bytes of the hash but the first. */
bool paths_parse_entry(const char *name, struct checksum *hash);
/* Writes "[<namespace>/]<place>". */
void paths_entry(char path[PATH_CAPACITY], const char *name_space, const struct checksum *hash);
/* Writes "[<namespace>/]<hh>". */
void paths_shard(char path[PATH_CAPACITY], const char *name_space, uint8_t shard);
/* Writes "[<namespace>/]<name>". */
void paths_in_name_space(char path[PATH_CAPACITY], const char *name_space, const char *name);
/* Writes "<parent>/<name>". Callers pass no names for which PATH_CAPACITY is too small. */
void paths_join(char path[PATH_CAPACITY], const char *parent, const char *name);
/* Writes "<parent>/<16 hex digits of number>". */
void paths_temporary(char path[PATH_CAPACITY], const char *parent, uint64_t number);

/* True if the name is one of paths_temporary. */
bool paths_is_temporary(const char *name);
/* True if a namespace may have this name. */
bool paths_is_namespace(const char *name);

#endif
