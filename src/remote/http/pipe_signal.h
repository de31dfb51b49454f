/*
 * pipe_signal.h - keeps SIGPIPE from the application while a TLS library writes to a connection that may be closed.
 */
#ifndef INGOT_REMOTE_HTTP_PIPE_SIGNAL_H
#define INGOT_REMOTE_HTTP_PIPE_SIGNAL_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>

struct pipe_signal {
    sigset_t mask_before;
    bool was_pending;
};

static inline struct pipe_signal pipe_signal_hold(void)
{
    struct pipe_signal held;
    sigset_t set;
    (void)sigpending(&set);
    held.was_pending = sigismember(&set, SIGPIPE) == 1;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGPIPE);
    (void)pthread_sigmask(SIG_BLOCK, &set, &held.mask_before);
    return held;
}

/* Discards a SIGPIPE that was raised since pipe_signal_hold, and restores the signal mask. */
static inline void pipe_signal_allow(const struct pipe_signal *held)
{
    const struct timespec no_time = {0, 0};
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGPIPE);
    if (!held->was_pending)
        (void)sigtimedwait(&set, NULL, &no_time);
    (void)pthread_sigmask(SIG_SETMASK, &held->mask_before, NULL);
}

#endif
