/*
 * steady_calls.h - wraps system calls that several files make, so that they are not cancellation points.
 *
 * If a thread were canceled in one of these calls, the files that it had open would stay open, and the bytes of files
 * that it had locked would stay locked, because no other thread knows of them; see util/cancellation.h.
 */
#ifndef INGOT_PERSIST_BASE_STEADY_CALLS_H
#define INGOT_PERSIST_BASE_STEADY_CALLS_H

#include <errno.h>
#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include "util/cancellation.h"

/* Returns the result of a system call, or a negated errno. */
static inline int result_of(int result)
{
    return result < 0 ? -errno : result;
}

static inline int steady_openat(int at, const char *path, int flags, unsigned mode)
{
    const int before = cancellation_hold();
    const int result = openat(at, path, flags, (mode_t)mode);
    cancellation_allow(before);
    return result;
}

static inline int steady_open(const char *path, int flags)
{
    return steady_openat(AT_FDCWD, path, flags, 0);
}

static inline int steady_close(int fd)
{
    const int before = cancellation_hold();
    const int result = close(fd);
    cancellation_allow(before);
    return result;
}

static inline ssize_t steady_getrandom(void *bytes, size_t size, unsigned flags)
{
    const int before = cancellation_hold();
    const ssize_t result = getrandom(bytes, size, flags);
    cancellation_allow(before);
    return result;
}

#endif
