/*
 * request.c - computes the time limits of a request and writes its error message; see base.h.
 */
#include "remote/base/base.h"

#include <stdarg.h>
#include <stdio.h>

#include "util/nanoseconds.h"

bool request_is_ended(const struct request *request)
{
    return request->is_ended != NULL && request->is_ended(request);
}

static uint64_t earlier_deadline(uint64_t deadline_ns, uint64_t now_ns, uint64_t span_ns)
{
    return deadline_ns < now_ns || deadline_ns - now_ns < span_ns ? deadline_ns : now_ns + span_ns;
}

uint64_t request_stall_moment(const struct request *request, uint64_t now_ns)
{
    return earlier_deadline(request->deadline_ns, now_ns, request->stall_limit_ns);
}

uint64_t request_connect_moment(const struct request *request, uint64_t now_ns)
{
    return earlier_deadline(request->deadline_ns, now_ns, request->connect_limit_ns);
}

int request_slice_ms(uint64_t now_ns, uint64_t moment_ns)
{
    if (moment_ns <= now_ns)
        return 0;
    const uint64_t left_ms = (moment_ns - now_ns) / NS_PER_MS + ((moment_ns - now_ns) % NS_PER_MS != 0);
    return left_ms < REQUEST_SLICE_MS ? (int)left_ms : REQUEST_SLICE_MS;
}

enum outcome request_fail(struct request *request, enum outcome outcome, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(request->failure, sizeof(request->failure), format, arguments);
    va_end(arguments);
    /* no control characters, of ASCII and of Latin-1 as UTF-8 has them: the message may quote a server, and ends up in
     * terminals and logs */
    for (unsigned char *c = (unsigned char *)request->failure; *c != '\0'; ++c) {
        if (*c < ' ' || *c == 0x7f)
            *c = '?';
        else if (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0)
            c[0] = c[1] = '?';
    }
    return outcome;
}
