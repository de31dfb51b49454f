/*
 * temporary.h - manages the directory tmp, where entries are prepared, and where they are moved before they are
 * deleted.
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
ingot_status_t temporary_ready(const struct directory *directory);

/* Creates a directory in tmp, and sets `path` to its path. */
ingot_status_t temporary_make(const struct directory *directory, char path[PATH_CAPACITY]);
/* Sets `path` to a path in tmp that does not exist yet. */
void temporary_name(char path[PATH_CAPACITY]);

/* Deletes an entry that was prepared in tmp or moved there. What cannot be deleted remains as a leftover. */
void temporary_delete(const struct directory *directory, const char *path);

/* Counts the leftovers, and deletes them if is_removing is set. */
struct leftovers temporary_reclaim(struct directory *directory, bool is_removing);

#endif
