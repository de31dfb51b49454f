/*
 * clock.h - reads the steady clock, with which all time limits are measured.
 */
#ifndef INGOT_REMOTE_BASE_CLOCK_H
#define INGOT_REMOTE_BASE_CLOCK_H

#include "util/nanoseconds.h"

#define CLOCK_NS_PER_MS NS_PER_MS
#define CLOCK_NS_PER_S NS_PER_SECOND

static inline uint64_t clock_now_ns(void)
{
    return nanoseconds_of(CLOCK_MONOTONIC);
}

/* A moment that never comes, for "no time limit". */
#define CLOCK_NEVER UINT64_MAX

#endif
