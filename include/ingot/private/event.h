/* SPDX-License-Identifier: MIT */
/* Private: not installed. Only Ingot's own libraries, layers, tool and tests use it. */
/**
 * @file private/event.h
 * Sends events to a context, so that those of storages, layers and the tool arrive where the context's own do.
 */
#ifndef INGOT_PRIVATE_EVENT_H
#define INGOT_PRIVATE_EVENT_H

#include <ingot/ingot.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Sends an event to the context's callback and trace. NULL strings count as "". Does nothing if @p context or @p event
 *  is NULL, or if the event's struct_size is not set. */
INGOT_API void ingot_context_emit_event(const_ingot_context_t context, const ingot_event_t *event);

#ifdef __cplusplus
}
#endif

#endif
