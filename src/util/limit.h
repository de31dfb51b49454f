/*
 * limit.h - reads limits and times of public structures, in which 0 is the default.
 *
 * LIMIT_UNLIMITED and LIMIT_NONE are INGOT_UNLIMITED and INGOT_NONE of ingot/ingot.h, which it does not include.
 */
#ifndef INGOT_UTIL_LIMIT_H
#define INGOT_UTIL_LIMIT_H

#include <stdint.h>

#include "util/nanoseconds.h"

#define LIMIT_UNLIMITED UINT64_MAX
#define LIMIT_NONE (UINT64_MAX - 1)
#define LIMIT_LONGEST_MS UINT64_C(0xffffffff) /* 49 days; can be added to a clock's time */

/* Returns a limit as a number, which is 0 for LIMIT_NONE. */
static inline uint64_t limit_of(uint64_t given, uint64_t by_default)
{
    if (given == LIMIT_NONE)
        return 0;
    return given != 0 ? given : by_default;
}

/* The reverse of limit_of. */
static inline uint64_t limit_given(uint64_t limit)
{
    return limit != 0 ? limit : LIMIT_NONE;
}

/* Returns a time in nanoseconds, which is 0 for LIMIT_NONE. */
static inline uint64_t limit_time_ns(uint64_t given_ms, uint64_t default_ms)
{
    const uint64_t time_ms = limit_of(given_ms, default_ms);
    return (time_ms < LIMIT_LONGEST_MS ? time_ms : LIMIT_LONGEST_MS) * NS_PER_MS;
}

/* Returns the moment of the steady clock until which a caller waits. By default, there is no limit. */
static inline uint64_t limit_moment_ns(uint64_t given_ms)
{
    return given_ms == 0 || given_ms == LIMIT_UNLIMITED ? NS_NEVER : nanoseconds_now() + limit_time_ns(given_ms, 0);
}

#endif
