/*
 * build_lock.h - lets only one process at a time build a program, and limits how many builds run at the same time on a
 * machine, by locks on bytes of the file `lock`.
 */
#ifndef INGOT_PERSIST_DIRECTORY_BUILD_LOCK_H
#define INGOT_PERSIST_DIRECTORY_BUILD_LOCK_H

#include "persist/directory/state.h"
#include "persist/storage/kinds.h"

/* The operations of the locks. Their `self` is the struct directory. */
extern const struct build_locks build_lock_operations;

/* Releases the locks by which the store tells other processes that waiting for a program is useless. */
void build_lock_fini(struct directory *directory);

#endif
