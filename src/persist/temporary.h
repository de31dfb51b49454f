/*
 * temporary.h - the place where entries are prepared and where they go before they are deleted.
 */
#ifndef INGOT_PERSIST_TEMPORARY_H
#define INGOT_PERSIST_TEMPORARY_H

#include "persist/directory.h"

/* A handle of tmp, made if missing; to be closed. */
ingot_status_t temporary_open(const struct directory *directory, int *at);

/* A new private directory in tmp. */
ingot_status_t temporary_make(int at, char name[PATH_CAPACITY]);
/* A name in tmp that nothing has yet. */
void temporary_name(char name[PATH_CAPACITY]);

/* Deletes what was prepared or put aside; where it fails, age will do it. */
void temporary_delete(int at, const char *name);

/* Deletes what was left behind by processes that ended in the middle; by age, since a process id may be reused. */
void temporary_reclaim(const struct directory *directory);

#endif
