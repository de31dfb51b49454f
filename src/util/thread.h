/*
 * thread.h - starts Ingot's threads, waits for their ends, and waits on conditions until a time of the steady clock.
 *
 * On Linux, a mutex or condition needs no memory, so making one cannot fail.
 */
#ifndef INGOT_UTIL_THREAD_H
#define INGOT_UTIL_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "util/nanoseconds.h"

/* Starts a thread that blocks all signals, because signals belong to the application. Returns false on failure. */
static inline bool thread_start(pthread_t *thread, void *(*run)(void *user), void *user)
{
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool is_started = pthread_create(thread, NULL, run, user) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return is_started;
}

/* Makes a condition for thread_wait. */
static inline void thread_condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t steady;
    (void)pthread_condattr_init(&steady);
    (void)pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    (void)pthread_cond_init(condition, &steady);
    (void)pthread_condattr_destroy(&steady);
}

/* Waits on a condition until moment_ns on the steady clock at most. The caller holds the lock. */
static inline void thread_wait(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t moment_ns)
{
    const struct timespec moment = {(time_t)(moment_ns / NS_PER_SECOND), (long)(moment_ns % NS_PER_SECOND)};
    if (moment_ns == NS_NEVER)
        (void)pthread_cond_wait(condition, lock);
    else
        (void)pthread_cond_timedwait(condition, lock, &moment);
}

/* Waits for the end of a thread. */
static inline void thread_join(pthread_t thread)
{
    (void)pthread_join(thread, NULL);
}

#endif
