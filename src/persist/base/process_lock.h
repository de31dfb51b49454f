/*
 * process_lock.h - a mutex that remains usable after fork, because the child creates it again.
 *
 * At the moment of a fork, another thread of the parent may hold the mutex. That thread does not exist in the child and
 * would never unlock it. The child's first thread that takes the lock therefore creates the mutex again, and calls
 * `forget` to drop the parent's state that the mutex guards. Other threads of the child wait until this is done.
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
    /* the process that created the mutex; acquire loads of this field pair with the release store after the creation */
    atomic_long process;
};

ingot_status_t process_lock_init(struct process_lock *lock);
void process_lock_fini(struct process_lock *lock);
/* Takes the lock. Calls `forget` when a forked child takes it for the first time. */
void process_lock_take(struct process_lock *lock, void (*forget)(void *user), void *user);
/* Takes the lock if no thread holds it; otherwise returns false. */
bool process_lock_try(struct process_lock *lock, void (*forget)(void *user), void *user);
void process_lock_give(struct process_lock *lock);
#define PROCESS_NO_TIME UINT64_MAX /* a time that never comes */

/* Makes a condition for process_lock_wait_until. Returns false if out of memory. */
bool process_lock_condition_init(pthread_cond_t *condition);
/* Waits on a condition until the time moment_ns, which is on the clock of files_steady_clock_ns. The caller must hold
 * the lock. Not a cancellation point, because a canceled thread would keep the lock. */
void process_lock_wait_until(struct process_lock *lock, pthread_cond_t *condition, uint64_t moment_ns);

#endif
