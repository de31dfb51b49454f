/*
 * temporary.h - manages the directory tmp, where entries are prepared, and where they are moved before they are
 * deleted.
 *
 * Each name in it contains the number of the byte of the file `lock` that its process keeps locked while the store is
 * open. If that byte is not locked, the process has ended. Paths are relative to the store's root.
 */
#ifndef INGOT_PERSIST_DIRECTORY_LAYOUT_TEMPORARY_H
#define INGOT_PERSIST_DIRECTORY_LAYOUT_TEMPORARY_H

#include "persist/directory/layout/state.h"

/* What processes that have ended left in tmp. */
struct leftovers {
    uint64_t count;
    uint64_t bytes;
};

void temporary_init(struct directory *directory);
void temporary_fini(struct directory *directory);
/* Take and give the session's lock, which also guards the descriptor of the root. */
void temporary_lock(struct directory *directory);
void temporary_unlock(struct directory *directory);
/* Ends the session, because the store has moved to another directory. The next name begins a session there. */
void temporary_renew(struct directory *directory);

/* Creates tmp if it is missing, and checks it. Must be called before the functions below. */
ingot_status_t temporary_ready(struct directory *directory);

/* Creates a directory in tmp, and sets `path` to its path. */
ingot_status_t temporary_make(struct directory *directory, char path[PATH_CAPACITY]);
/* Sets `path` to a path in tmp that does not exist yet. */
ingot_status_t temporary_name(struct directory *directory, char path[PATH_CAPACITY]);

/* Deletes an entry that was prepared in tmp or moved there. What cannot be deleted remains as a leftover. */
void temporary_delete(const struct directory *directory, const char *path);

/* Counts the leftovers, and deletes them if is_removing is set. */
struct leftovers temporary_reclaim(struct directory *directory, bool is_removing);

#endif
