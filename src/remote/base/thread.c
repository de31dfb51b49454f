/*
 * thread.c - starts threads that receive no signals, and waits for conditions by the steady clock; see thread.h.
 */
#include "remote/base/thread.h"

#include <signal.h>
#include <time.h>

#include "remote/base/clock.h"

bool thread_start(pthread_t *thread, void *(*run)(void *user), void *user)
{
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return false;
    const bool has_started = pthread_create(thread, NULL, run, user) == 0; /* the new thread inherits the mask */
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return has_started;
}

bool thread_init_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0)
        return false;
    const bool is_made =
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 && pthread_cond_init(condition, &attributes) == 0;
    (void)pthread_condattr_destroy(&attributes);
    return is_made;
}

void thread_wait(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t moment_ns)
{
    const struct timespec moment = {.tv_sec = (time_t)(moment_ns / CLOCK_NS_PER_S),
                                    .tv_nsec = (long)(moment_ns % CLOCK_NS_PER_S)};
    if (moment_ns == CLOCK_NEVER)
        (void)pthread_cond_wait(condition, lock);
    else
        (void)pthread_cond_timedwait(condition, lock, &moment);
}
