/*
 * temporary.h - manages the directory tmp, where entries are prepared, and where they are moved before they are
 * deleted.
 *
 * Where the system moves nothing from one directory to another, as in some sandboxes, entries are prepared in their
 * shards, under names like those in tmp.
 *
 * Paths are relative to the store's root.
 */
#ifndef INGOT_PERSIST_DIRECTORY_TEMPORARY_H
#define INGOT_PERSIST_DIRECTORY_TEMPORARY_H

#include "persist/directory/state.h"

/* The total of what killed processes left in tmp. */
struct leftovers {
    uint64_t count;
    uint64_t bytes;
};

/* Creates tmp if it is missing, checks it, and closes it to other users. Must be called before temporary_take. */
ingot_status_t temporary_ready(const struct root *root);

/* Creates a directory in tmp, or in `shard_path` unless it is NULL, and sets `path` to its path. */
ingot_status_t temporary_make(const struct root *root, const char *shard_path, char path[PATH_CAPACITY]);

/* Moves an entry to tmp, and sets `aside` to its new path. If the system does not move it (EXDEV: it is part of a
 * container's image, or a sandbox forbids it), deletes it instead, and sets `aside` to "". Returns 0 or a negated
 * errno. */
int temporary_take(const struct root *root, const char *path, char aside[PATH_CAPACITY]);

/* Deletes an entry that was prepared in tmp or moved there. What cannot be deleted remains as a leftover. */
void temporary_delete(const struct root *root, const char *path);

/* Counts the leftovers in tmp, and deletes them if is_removing is set. */
struct leftovers temporary_reclaim(const struct root *root, bool is_removing);
/* Deletes what was prepared in a shard, if it is a leftover: the shard was last written to at written_ns. */
void temporary_reclaim_from_shard(const struct root *root, const char *shard_path, const char *name,
                                  uint64_t written_ns);

#endif
