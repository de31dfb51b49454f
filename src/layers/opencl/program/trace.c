/*
 * trace.c - writes to the trace (INGOT_TRACE) which programs passed through, and why, and why there is no store.
 *
 * An Ingot context writes the trace. If a program does not have a context yet, one is created for it, but only if
 * there is a trace.
 */
#include "layers/opencl/program/trace.h"

#include <ingot/private/event.h>
#include <stdio.h>
#include <stdlib.h>

#include "layers/opencl/program/contexts.h"

static void emit(cl_program native, ingot_event_kind_t kind, ingot_status_t status, const char *reason)
{
    char text[384];
    ingot_event_t event = INGOT_EVENT_INIT;
    const char *destination = secure_getenv("INGOT_TRACE");
    if (destination == NULL || *destination == '\0' || native == NULL)
        return;
    (void)snprintf(text, sizeof(text), "%s", reason);
    struct layer_context *context = contexts_acquire(native);
    if (context == NULL)
        return;
    event.kind = kind;
    event.status = status;
    event.reason = text;
    ingot_context_emit_event(context->ingot, &event);
    contexts_release(context);
}

void trace_passed(cl_program native, ingot_status_t status, const char *reason)
{
    emit(native, INGOT_EVENT_PASSED_THROUGH, status, reason);
}

void trace_degraded(cl_program native, ingot_status_t status, const char *reason)
{
    emit(native, INGOT_EVENT_STORAGE_DEGRADED, status, reason);
}
