/*
 * wait.c - waits for a socket; see wait.h.
 *
 * A wait checks every 20 ms whether its request must end early because of another thread. That thread could wake it
 * faster through a file descriptor, but creating one would slow down every request. A server that works answers within
 * 20 ms anyway.
 */
#include "remote/net/wait.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "remote/base/clock.h"

int wait_slice_ms(uint64_t now_ns, uint64_t moment_ns)
{
    if (moment_ns <= now_ns)
        return 0;
    const uint64_t left_ms = (moment_ns - now_ns) / CLOCK_NS_PER_MS + ((moment_ns - now_ns) % CLOCK_NS_PER_MS != 0);
    return left_ms < WAIT_SLICE_MS ? (int)left_ms : WAIT_SLICE_MS;
}

enum outcome wait_for_socket(struct request *request, int socket, short events, uint64_t moment_ns)
{
    for (;;) {
        struct pollfd polled = {.fd = socket, .events = events};
        const uint64_t now_ns = clock_now_ns();
        const int count = poll(&polled, 1, wait_slice_ms(now_ns, moment_ns));
        if (count < 0 && errno != EINTR)
            return request_fail(request, OUTCOME_UNREACHABLE, "poll: %s", strerror(errno));
        if (request_is_ended(request)) /* even if the socket is ready, because it may be ready each time */
            return request_fail(request, OUTCOME_ENDED, "ended early");
        if (count > 0)
            return OUTCOME_DONE;
        if (now_ns >= moment_ns)
            return request_fail(request, OUTCOME_TIMED_OUT, "timed out");
    }
}
