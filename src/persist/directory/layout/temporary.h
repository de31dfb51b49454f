/*
 * temporary.h - the place where entries are prepared and where they go before they are deleted.
 *
 * Names are paths below the store's root, so that no handle of tmp is needed. Each says which byte of the file lock its
 * process has locked for as long as the store is open: where that byte is free, the process is gone.
 */
#ifndef INGOT_PERSIST_DIRECTORY_LAYOUT_TEMPORARY_H
#define INGOT_PERSIST_DIRECTORY_LAYOUT_TEMPORARY_H

#include "persist/directory/layout/state.h"

/* What processes left that are gone. */
struct leftovers {
    uint64_t count;
    uint64_t bytes;
};

ingot_status_t temporary_init(struct directory *directory);
void temporary_fini(struct directory *directory);
/* The store is in another directory: what is prepared next is so there. */
void temporary_renew(struct directory *directory);

/* Makes tmp if it is missing, and judges it. To be called before what follows. */
ingot_status_t temporary_ready(const struct directory *directory);

/* A new private directory in tmp. */
ingot_status_t temporary_make(struct directory *directory, char path[PATH_CAPACITY]);
/* A path in tmp that nothing has yet. */
ingot_status_t temporary_name(struct directory *directory, char path[PATH_CAPACITY]);

/* Deletes what was prepared or put aside; where it fails, it is left behind. */
void temporary_delete(const struct directory *directory, const char *path);

/* Counts what was left behind, and deletes it where it is to be removed. What version 1 left says nothing of its
 * process: it goes when it is an hour old. */
struct leftovers temporary_reclaim(struct directory *directory, bool is_removing);

#endif
