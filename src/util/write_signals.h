/*
 * write_signals.h - keeps SIGPIPE and SIGXFSZ from the application while Ingot writes to a pipe, a connection or a file
 * of its own. Without this, a reader that has gone, or a limit of file sizes, would end the process.
 */
#ifndef INGOT_UTIL_WRITE_SIGNALS_H
#define INGOT_UTIL_WRITE_SIGNALS_H

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

struct write_signals {
    sigset_t mask_before;
    sigset_t discarded; /* the signals that were not pending before */
};

static inline struct write_signals write_signals_hold(void)
{
    static const int numbers[] = {SIGPIPE, SIGXFSZ};
    struct write_signals held;
    sigset_t pending;
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigemptyset(&held.discarded);
    (void)sigpending(&pending);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); ++i) {
        (void)sigaddset(&set, numbers[i]);
        if (sigismember(&pending, numbers[i]) != 1)
            (void)sigaddset(&held.discarded, numbers[i]);
    }
    (void)pthread_sigmask(SIG_BLOCK, &set, &held.mask_before);
    return held;
}

/* Discards what was raised since write_signals_hold, and restores the signal mask. */
static inline void write_signals_allow(const struct write_signals *held)
{
    const struct timespec no_time = {0, 0};
    while (sigtimedwait(&held->discarded, NULL, &no_time) > 0) {
    }
    (void)pthread_sigmask(SIG_SETMASK, &held->mask_before, NULL);
}

#endif
