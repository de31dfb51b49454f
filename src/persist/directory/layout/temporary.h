/*
 * temporary.h - the place where entries are prepared and where they go before they are deleted.
 *
 * Names are paths below the store's root, so that no handle of tmp is needed. Each says which byte of the file lock its
 * process has locked for as long as the store is open: where that byte is free, the process is gone.
 */
#ifndef INGOT_PERSIST_DIRECTORY_LAYOUT_TEMPORARY_H
#define INGOT_PERSIST_DIRECTORY_LAYOUT_TEMPORARY_H

#include "persist/directory/layout/state.h"

/* What processes left behind that have ended. */
struct leftovers {
    uint64_t count;
    uint64_t bytes;
};

ingot_status_t temporary_init(struct directory *directory);
void temporary_fini(struct directory *directory);
/* The store is in another directory now: ends the session, so that the next name gets one there. */
void temporary_renew(struct directory *directory);

/* Makes tmp if it is missing, and judges it. Callers call it before the functions below. */
ingot_status_t temporary_ready(const struct directory *directory);

/* Makes a new private directory in tmp. */
ingot_status_t temporary_make(struct directory *directory, char path[PATH_CAPACITY]);
/* Returns a path in tmp that does not exist yet. */
ingot_status_t temporary_name(struct directory *directory, char path[PATH_CAPACITY]);

/* Deletes what was prepared or put aside; what cannot be deleted is left behind. */
void temporary_delete(const struct directory *directory, const char *path);

/* Counts what was left behind, and deletes it if is_removing. The names of version 1 do not identify their process:
 * what has one is deleted when it is an hour old. */
struct leftovers temporary_reclaim(struct directory *directory, bool is_removing);

#endif
