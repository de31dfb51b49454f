/*
 * events.c - reports a storage's events to callbacks and contexts.
 *
 * A storage does not belong to a context, but callers use it for programs that do. The context for which a thread
 * currently works is kept in a thread-local variable. Callbacks run with no lock held.
 */
#include "persist/storage/events.h"

#include <ingot/private/event.h>
#include <stdbool.h>

#include "persist/base/files.h"
#include "persist/storage/state.h"

static _Thread_local const struct ingot_context *current_context;

const struct ingot_context *events_enter(const struct ingot_context *context)
{
    const struct ingot_context *before = current_context;
    current_context = context;
    return before;
}

void events_leave(const struct ingot_context *before)
{
    current_context = before;
}

static ingot_event_t make_event(ingot_event_kind_t kind, ingot_status_t status, uint64_t bytes, uint64_t started_ns,
                                const char *name, const char *reason)
{
    ingot_event_t event = INGOT_EVENT_INIT;
    event.kind = kind;
    event.status = status;
    event.bytes = bytes < SIZE_MAX ? (size_t)bytes : SIZE_MAX;
    event.duration_ns = files_steady_clock_ns() - started_ns;
    event.name = name;
    event.reason = reason;
    return event;
}

void events_tell(ingot_event_callback_t on_event, void *user, ingot_event_kind_t kind, ingot_status_t status,
                 uint64_t bytes, uint64_t started_ns, const char *name, const char *reason)
{
    const bool is_callers = kind == INGOT_EVENT_STORAGE_LOAD || kind == INGOT_EVENT_STORAGE_STORE;
    const struct ingot_context *context = is_callers ? NULL : current_context;
    if (on_event == NULL && context == NULL)
        return;
    const ingot_event_t event = make_event(kind, status, bytes, started_ns, name, reason);
    if (on_event != NULL)
        on_event(&event, user);
    if (context != NULL)
        ingot_context_emit_event(context, &event);
}

void storage_tell(ingot_storage_t storage, ingot_event_kind_t kind, ingot_status_t status, uint64_t bytes,
                  uint64_t started_ns, const char *reason)
{
    const struct ingot_storage *listener = storage->listener != NULL ? storage->listener : storage;
    events_tell(listener->on_event, listener->on_event_user, kind, status, bytes, started_ns, "", reason);
}

void events_tell_context(const struct ingot_context *context, ingot_event_kind_t kind, ingot_status_t status,
                         size_t bytes, uint64_t started_ns, const char *reason)
{
    const ingot_event_t event = make_event(kind, status, bytes, started_ns, "", reason);
    ingot_context_emit_event(context, &event);
}
