/*
 * process_lock.h - a mutex that a forked child creates again.
 *
 * During fork, a thread that does not exist in the child may hold the mutex. The first thread of the child that takes
 * the lock therefore creates it again, and calls `forget` to drop the parent's state that it guards; other threads wait
 * for that.
 */
#ifndef INGOT_PERSIST_BASE_PROCESS_LOCK_H
#define INGOT_PERSIST_BASE_PROCESS_LOCK_H

#include <ingot/ingot.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct process_lock {
    pthread_mutex_t mutex;
    /* the process that owns the lock; acquire pairs with the release of the thread that took it over */
    atomic_long process;
};

ingot_status_t process_lock_init(struct process_lock *lock);
void process_lock_fini(struct process_lock *lock);
/* Takes the lock. forget is called in a child before the lock is taken for the first time. */
void process_lock_take(struct process_lock *lock, void (*forget)(void *user), void *user);
/* Takes the lock if no thread holds it, otherwise returns false. */
bool process_lock_try(struct process_lock *lock, void (*forget)(void *user), void *user);
void process_lock_give(struct process_lock *lock);
/* Waits on a condition of the lock, which the caller holds. Not a cancellation point, because a canceled thread
 * would keep the lock. */
void process_lock_wait(struct process_lock *lock, pthread_cond_t *condition);

#define PROCESS_NO_TIME UINT64_MAX /* as a time: never */

/* Makes a condition for process_lock_wait_until. Returns false if out of memory. */
bool process_lock_condition_init(pthread_cond_t *condition);
/* Does the same as process_lock_wait, but at most until a time on the clock of files_steady_clock_ns. */
void process_lock_wait_until(struct process_lock *lock, pthread_cond_t *condition, uint64_t moment_ns);

#endif
