/*
 * temporary.h - names directories in a shard while they are no entries: while an entry is prepared or deleted.
 *
 * Paths are relative to the store's root.
 */
#ifndef INGOT_PERSIST_DIRECTORY_TEMPORARY_H
#define INGOT_PERSIST_DIRECTORY_TEMPORARY_H

#include "persist/directory/state.h"

/* Creates a directory in a shard, and sets `path` to its path. Returns 0 or a negated errno. */
int temporary_make(const struct root *root, const char *shard_path, char path[PATH_CAPACITY]);

/* Moves an entry aside in its shard, and sets `aside` to its new path. If the system does not move it (EXDEV: it is
 * part of a container's image), deletes it instead, and sets `aside` to "". Returns 0 or a negated errno. */
int temporary_take(const struct root *root, const char *path, char aside[PATH_CAPACITY]);

/* Deletes an entry that was prepared or moved aside; does nothing for "". What cannot be deleted remains as a leftover.
 */
void temporary_delete(const struct root *root, const char *path);

/* True if a killed process has left the directory with this name in a shard, which was last written to at written_ns.
 * Sets *bytes to its size. is_removing: deletes it. */
bool temporary_reclaim(const struct root *root, const char *shard_path, const char *name, uint64_t written_ns,
                       bool is_removing, uint64_t *bytes);

#endif
