/*
 * trace.c - tells INGOT_TRACE what passed through, and why.
 */
#include "layers/opencl/program/trace.h"

void trace_passed(const struct shadow *shadow, ingot_status_t status, const char *reason)
{
    ingot_event_t event = INGOT_EVENT_INIT;
    if (shadow->context == NULL)
        return;
    event.kind = INGOT_EVENT_PASSED_THROUGH;
    event.status = status;
    event.reason = reason;
    ingot_context_emit_event(shadow->context->ingot, &event);
}
