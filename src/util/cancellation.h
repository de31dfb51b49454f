/*
 * cancellation.h - sections in which pthread_cancel does not end the thread.
 *
 * If a thread ends while it holds a lock, or while others wait for its result, they wait forever. With these functions
 * it is canceled at the next cancellation point after the section. Sections may be nested.
 */
#ifndef INGOT_UTIL_CANCELLATION_H
#define INGOT_UTIL_CANCELLATION_H

#include <pthread.h>

/* Begins a section. Returns the argument for cancellation_allow. Leaves errno unchanged. */
static inline int cancellation_hold(void)
{
    int before = PTHREAD_CANCEL_ENABLE;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

static inline void cancellation_allow(int before)
{
    (void)pthread_setcancelstate(before, NULL);
}

#endif
