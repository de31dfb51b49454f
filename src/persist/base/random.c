/*
 * random.c - makes random bytes for keys.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* for steady_calls.h */
#endif

#include "persist/base/random.h"

#include <errno.h>
#include <ingot/backend.h>
#include <sys/random.h>

#include "persist/base/steady_calls.h"

ingot_status_t random_fill(size_t size, uint8_t *bytes)
{
    size_t done = 0;
    while (done < size) {
        const ssize_t count = steady_getrandom(bytes + done, size - done, 0);
        if (count < 0 && errno != EINTR)
            return ingot_set_error(INGOT_IO_ERROR, errno, "the system provided no random bytes for a key (errno %d)",
                                   errno);
        done += count > 0 ? (size_t)count : 0;
    }
    return INGOT_SUCCESS;
}
