/*
 * trace.c - writes a layer's own events to the trace; see common.h.
 */
#include "layers/common/common.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/base/trace.h"

static struct trace trace; /* opened with the first event */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_trace(void)
{
    trace_init(&trace, NULL, NULL, secure_getenv("INGOT_TRACE"));
}

void layer_trace(const ingot_event_t *event, void *unused)
{
    (void)unused;
    (void)pthread_once(&once, open_trace);
    if (trace_wanted(&trace))
        trace_emit(&trace, event);
}

void layer_trace_passed(ingot_status_t status, const char *reason)
{
    ingot_event_t event = INGOT_EVENT_INIT;
    event.kind = INGOT_EVENT_PASSED_THROUGH;
    event.status = status;
    event.reason = reason;
    layer_trace(&event, NULL);
}
