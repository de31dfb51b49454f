/*
 * cancellation.h - defers pthread_cancel while a thread does something that it must finish.
 *
 * A thread that is canceled while it holds a lock, or while others wait for its result, blocks them forever. With these
 * functions, it is canceled only at the first cancellation point after cancellation_allow. Calls may be nested.
 */
#ifndef INGOT_UTIL_CANCELLATION_H
#define INGOT_UTIL_CANCELLATION_H

#include <pthread.h>

/* Defers cancellation. Returns the argument for cancellation_allow. Keeps errno. */
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
