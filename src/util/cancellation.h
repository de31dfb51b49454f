/*
 * cancellation.h - keeping pthread_cancel from ending a thread in the middle of something.
 *
 * A thread that is ended where it holds a lock, or where others wait for what it makes, leaves it so for ever. It is
 * cancelled at the next cancellation point after such a stretch. Stretches may be nested.
 */
#ifndef INGOT_UTIL_CANCELLATION_H
#define INGOT_UTIL_CANCELLATION_H

#include <pthread.h>

/* Returns what cancellation_allow needs. errno stays. */
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
