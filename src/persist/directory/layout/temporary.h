/*
 * temporary.h - the place where entries are prepared, and to which they are moved before they are deleted.
 *
 * A handle of tmp stays open, because to examine it takes a third of the time that its path does, and each store does
 * so. Names are paths below the store's root; temporary_below gives them below the handle. Each name contains the byte
 * of the file `lock` that its process keeps locked while the store is open: if that byte is free, the process has
 * ended.
 */
#ifndef INGOT_PERSIST_DIRECTORY_LAYOUT_TEMPORARY_H
#define INGOT_PERSIST_DIRECTORY_LAYOUT_TEMPORARY_H

#include "persist/directory/layout/state.h"

/* What processes that have ended left behind. */
struct leftovers {
    uint64_t count;
    uint64_t bytes;
};

ingot_status_t temporary_init(struct directory *directory);
void temporary_fini(struct directory *directory);
/* Ends the session, because the store is in another directory now; the next name starts a session there. */
void temporary_renew(struct directory *directory);

/* Opens tmp, creates it if it is missing, and checks it. Callers call it before the functions below. */
ingot_status_t temporary_ready(struct directory *directory);
/* Returns a handle, of tmp once it is ready, and has *path be the same path below it. */
int temporary_below(const struct directory *directory, const char **path);

/* Makes a new private directory in tmp. */
ingot_status_t temporary_make(struct directory *directory, char path[PATH_CAPACITY]);
/* Returns a path in tmp that does not exist yet. */
ingot_status_t temporary_name(struct directory *directory, char path[PATH_CAPACITY]);

/* Deletes what was prepared or moved here; what cannot be deleted stays. */
void temporary_delete(const struct directory *directory, const char *path);

/* Counts leftovers, and deletes them if is_removing. A name of version 1 does not identify its process, so such an
 * entry is deleted when it is an hour old. */
struct leftovers temporary_reclaim(struct directory *directory, bool is_removing);

#endif
