/*
 * temporary.h - the directory tmp, where entries are prepared, and where they are moved before they are deleted.
 *
 * A handle of tmp stays open, because examining it takes a third of the time of examining its path, and each store does
 * so. Names are paths below the store's root; temporary_below gives them below the handle. Each name contains the byte
 * of the file `lock` that its process keeps locked while the store is open: if that byte is free, the process has
 * ended.
 */
#ifndef INGOT_PERSIST_DIRECTORY_LAYOUT_TEMPORARY_H
#define INGOT_PERSIST_DIRECTORY_LAYOUT_TEMPORARY_H

#include "persist/directory/layout/state.h"

/* Leftovers of processes that have ended. */
struct leftovers {
    uint64_t count;
    uint64_t bytes;
};

ingot_status_t temporary_init(struct directory *directory);
void temporary_fini(struct directory *directory);
/* Ends the session because the store has moved to another directory; the next name starts a session there. */
void temporary_renew(struct directory *directory);

/* Opens tmp, creates it if it is missing, and checks it. Callers call it before the functions below. */
ingot_status_t temporary_ready(struct directory *directory);
/* Returns a handle and sets *path to the same path below it. The handle is tmp's once that is ready, otherwise the
 * root's. */
int temporary_below(const struct directory *directory, const char **path);

/* Makes a new private directory in tmp. */
ingot_status_t temporary_make(struct directory *directory, char path[PATH_CAPACITY]);
/* Returns a path in tmp that does not exist yet. */
ingot_status_t temporary_name(struct directory *directory, char path[PATH_CAPACITY]);

/* Deletes what was prepared in tmp or moved there. What cannot be deleted stays. */
void temporary_delete(const struct directory *directory, const char *path);

/* Counts leftovers, and deletes them if is_removing. A name of version 1 does not identify its process, so such an
 * entry is deleted when it is an hour old. */
struct leftovers temporary_reclaim(struct directory *directory, bool is_removing);

#endif
