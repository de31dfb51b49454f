/*
 * request.c - computes the time limits of a request and writes its error message; see request.h.
 */
#include "remote/base/request.h"

#include <stdarg.h>
#include <stdio.h>

bool request_is_ended(const struct request *request)
{
    return request->is_ended != NULL && request->is_ended(request);
}

static uint64_t earlier(uint64_t deadline_ns, uint64_t now_ns, uint64_t span_ns)
{
    return deadline_ns < now_ns || deadline_ns - now_ns < span_ns ? deadline_ns : now_ns + span_ns;
}

uint64_t request_stall_moment(const struct request *request, uint64_t now_ns)
{
    return earlier(request->deadline_ns, now_ns, request->stall_limit_ns);
}

uint64_t request_connect_moment(const struct request *request, uint64_t now_ns)
{
    return earlier(request->deadline_ns, now_ns, request->connect_limit_ns);
}

enum outcome request_fail(struct request *request, enum outcome outcome, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(request->failure, sizeof(request->failure), format, arguments);
    va_end(arguments);
    return outcome;
}
