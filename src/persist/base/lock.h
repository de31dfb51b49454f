/*
 * lock.h - one lock for all rarely used lists of the process, in each library that contains this file.
 *
 * It guards the flights of turns, and the targets of the front door's caches; in the OpenCL layer, also the tables of
 * handles and contexts, the fields of shadows that shadow.h names, and the list of reclaim.c.
 *
 * It is held for short searches and copies only, never while anything else is called. A fork waits for it, so that a
 * child never inherits it from another thread.
 */
#ifndef INGOT_PERSIST_BASE_LOCK_H
#define INGOT_PERSIST_BASE_LOCK_H

#include <stdint.h>

void lock_take(void);
void lock_give(void);
/* Gives the lock, waits for lock_wake, and takes the lock again. It may also return earlier. */
void lock_wait(void);
/* Does the same, but waits until moment_ns at most, on the steady clock; UINT64_MAX: no limit. */
void lock_wait_until(uint64_t moment_ns);
/* Wakes all threads that wait. The caller has the lock. */
void lock_wake(void);

#endif
