/*
 * temporary.h - manages the directory tmp, where entries are prepared, and where they are moved before they are
 * deleted.
 *
 * Where the system moves nothing from one directory to another, as in some sandboxes, entries are prepared in their
 * buckets, under names like those in tmp.
 *
 * Paths are relative to the store's root.
 */
#ifndef INGOT_PERSIST_DIRECTORY_LAYOUT_TEMPORARY_H
#define INGOT_PERSIST_DIRECTORY_LAYOUT_TEMPORARY_H

#include "persist/directory/layout/state.h"

/* The total of what killed processes left in tmp. */
struct leftovers {
    uint64_t count;
    uint64_t bytes;
};

/* Creates tmp if it is missing, and checks it. Must be called before the functions below. */
ingot_status_t temporary_ready(const struct root *root);

/* Creates a directory in tmp, or in `bucket_path` unless it is NULL, and sets `path` to its path. */
ingot_status_t temporary_make(const struct root *root, const char *bucket_path, char path[PATH_CAPACITY]);
/* Sets `path` to a path in tmp that does not exist yet. */
void temporary_name(char path[PATH_CAPACITY]);

/* Deletes an entry that was prepared in tmp or moved there. What cannot be deleted remains as a leftover. */
void temporary_delete(const struct root *root, const char *path);

/* Counts the leftovers in tmp, and deletes them if is_removing is set. */
struct leftovers temporary_reclaim(const struct root *root, bool is_removing);
/* Deletes what was prepared in a bucket, if it is a leftover: its namespace was last written to at written_ns. */
void temporary_reclaim_from_bucket(const struct root *root, const char *bucket_path, const char *name,
                                   uint64_t written_ns);

#endif
