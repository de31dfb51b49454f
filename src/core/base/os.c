/*
 * os.c - implements os.h with POSIX.
 */
#include "core/base/os.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "util/nanoseconds.h"

uint64_t os_now_ns(void)
{
    return nanoseconds_of(CLOCK_MONOTONIC);
}

uint64_t os_wall_clock_ms(void)
{
    return nanoseconds_of(CLOCK_REALTIME) / NS_PER_MS;
}

const char *os_environment(const char *name)
{
    return secure_getenv(name);
}

const char *os_environment_of_others(const char *name)
{
    return getenv(name);
}

void os_visit_environment(void (*visit)(const char *name, size_t size, void *user), void *user)
{
    for (char **each = environ; each != NULL && *each != NULL && getauxval(AT_SECURE) == 0; ++each) {
        const char *end = strchr(*each, '=');
        visit(*each, end != NULL ? (size_t)(end - *each) : strlen(*each), user);
    }
}
