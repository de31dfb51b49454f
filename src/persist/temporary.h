/*
 * temporary.h - the place where entries are prepared and where they go before they are deleted.
 *
 * Names are paths below the store's root, so that no handle of tmp is needed.
 */
#ifndef INGOT_PERSIST_TEMPORARY_H
#define INGOT_PERSIST_TEMPORARY_H

#include "persist/directory.h"

/* Makes tmp if it is missing, and judges it. To be called before what follows. */
ingot_status_t temporary_ready(const struct directory *directory);

/* A new private directory in tmp. */
ingot_status_t temporary_make(struct directory *directory, char path[PATH_CAPACITY]);
/* A path in tmp that nothing has yet. */
void temporary_name(struct directory *directory, char path[PATH_CAPACITY]);

/* Deletes what was prepared or put aside; where it fails, age will do it. */
void temporary_delete(const struct directory *directory, const char *path);

/* Deletes what was left behind by processes that ended in the middle; by age, since a process id may be reused. */
void temporary_reclaim(const struct directory *directory);

#endif
