/*
 * events.h - reports a storage's events to callbacks and contexts.
 */
#ifndef INGOT_PERSIST_STORAGE_EVENTS_H
#define INGOT_PERSIST_STORAGE_EVENTS_H

#include <ingot/backend.h>
#include <ingot/storage.h>

/*
 * events_enter notes that the calling thread works for a program of this context. Until the thread calls events_leave,
 * events about the storage's own work (evictions, degradations) also go to that context. events_enter returns the
 * previous context, which the caller passes to events_leave, so calls may nest.
 */
const struct ingot_context *events_enter(const struct ingot_context *context);
void events_leave(const struct ingot_context *before);

/* Reports an event to a storage's callback, which may be NULL, and to the thread's context. Events about loading and
 * storing blobs go only to the callback, because callers report these to the context themselves. */
void events_tell(ingot_event_callback_t on_event, void *user, ingot_event_kind_t kind, ingot_status_t status,
                 uint64_t bytes, uint64_t started_ns, const char *name, const char *reason);

/* Does the same for the callback of a storage. A chain has none, so its first tier with a callback gets the event. */
void storage_tell(ingot_storage_t storage, ingot_event_kind_t kind, ingot_status_t status, uint64_t bytes,
                  uint64_t started_ns, const char *reason);

/* Reports an event only to a context. */
void events_tell_context(const struct ingot_context *context, ingot_event_kind_t kind, ingot_status_t status,
                         size_t bytes, uint64_t started_ns, const char *reason);

#endif
