/*
 * clock.c - reads the monotonic clock. Only this file needs POSIX; the others are plain C11.
 */
#define _POSIX_C_SOURCE 200809L
#include "clock.h"

#include <time.h>

double clock_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}
