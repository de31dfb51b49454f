/*
 * nanoseconds.h - defines other units of time in nanoseconds.
 */
#ifndef INGOT_UTIL_NANOSECONDS_H
#define INGOT_UTIL_NANOSECONDS_H

#include <stdint.h>

#define NS_PER_US UINT64_C(1000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_SECOND UINT64_C(1000000000)

#endif
