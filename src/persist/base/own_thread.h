/*
 * own_thread.h - starts a thread of Ingot.
 */
#ifndef INGOT_PERSIST_BASE_OWN_THREAD_H
#define INGOT_PERSIST_BASE_OWN_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

/* Starts a thread that blocks all signals, because signals belong to the application. Returns false on failure. */
static inline bool own_thread_start(pthread_t *thread, void *(*run)(void *user), void *user)
{
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool is_started = pthread_create(thread, NULL, run, user) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return is_started;
}

#endif
