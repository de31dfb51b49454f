/*
 * build_lock.h - one byte of the file `lock` for each program that is being built, so that processes build it once.
 */
#ifndef INGOT_PERSIST_DIRECTORY_LAYOUT_BUILD_LOCK_H
#define INGOT_PERSIST_DIRECTORY_LAYOUT_BUILD_LOCK_H

#include "persist/directory/layout/state.h"
#include "persist/storage/common/build_locks.h"

/* The operations; self is the struct directory. */
extern const struct build_locks build_lock_operations;

/* Releases the locks that the store keeps to tell other processes that waiting is useless. */
void build_lock_fini(struct directory *directory);

#endif
