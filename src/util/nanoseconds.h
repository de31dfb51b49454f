/*
 * nanoseconds.h - defines other units of time in nanoseconds, and reads clocks.
 */
#ifndef INGOT_UTIL_NANOSECONDS_H
#define INGOT_UTIL_NANOSECONDS_H

#include <stdint.h>
#include <time.h>

#define NS_PER_US UINT64_C(1000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_SECOND UINT64_C(1000000000)
#define NS_NEVER UINT64_MAX /* a moment that never comes */

/* Returns the time of CLOCK_MONOTONIC or another clock of Linux, none of which can fail. */
static inline uint64_t nanoseconds_of(clockid_t clock)
{
    struct timespec now = {0, 0};
    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

/* Returns the time of the steady clock, with which time limits are measured. */
static inline uint64_t nanoseconds_now(void)
{
    return nanoseconds_of(CLOCK_MONOTONIC);
}

#endif
