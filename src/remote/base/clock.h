/*
 * clock.h - reads the steady clock, with which all time limits are measured.
 */
#ifndef INGOT_REMOTE_BASE_CLOCK_H
#define INGOT_REMOTE_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define CLOCK_NS_PER_MS UINT64_C(1000000)
#define CLOCK_NS_PER_S UINT64_C(1000000000)

static inline uint64_t clock_now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail for this clock */
    return (uint64_t)now.tv_sec * CLOCK_NS_PER_S + (uint64_t)now.tv_nsec;
}

/* A moment that never comes, for "no time limit". */
#define CLOCK_NEVER UINT64_MAX

#endif
