/*
 * lock.h - one lock for all rarely used lists of the process, in each library that contains this file.
 *
 * It guards the targets of the front door's caches, and the programs that are begun; in the OpenCL layer, the tables of
 * handles and contexts, the fields of shadows that program.h names, and the list of those that wait.
 *
 * It is held for short searches and copies only, never while anything else is called. A fork waits for it, so that a
 * child never inherits it from another thread.
 */
#ifndef INGOT_FRONT_LOCK_H
#define INGOT_FRONT_LOCK_H

void lock_take(void);
void lock_give(void);
/* Gives the lock, waits for lock_wake, and takes the lock again. It may also return earlier. */
void lock_wait(void);
/* Wakes all threads that wait. The caller has the lock. */
void lock_wake(void);

#endif
