/* SPDX-License-Identifier: MIT */
/* Private: not installed. Only Ingot's own libraries, layers, tool and tests use it. */
/**
 * @file private/event.h
 * Sends events to a context, so that those of storages, layers and the tool arrive where the context's own do, and
 * reports wrong values of environment variables.
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

/** Refuses the value of an environment variable: sets the thread's error detail from the format, and writes it to
 * standard error, once for each variable and process, because a wrong value must not be silent. Returns
 *  INGOT_INVALID_ARGUMENTS. */
#ifdef __GNUC__
__attribute__((format(printf, 2, 3)))
#endif
INGOT_API ingot_status_t
ingot_environment_refuse(const char *name, const char *format, ...);
/** Lets ingot_environment_refuse write nothing from now on. For the tool, which reports the error itself. */
INGOT_API void ingot_environment_be_silent(void);

#ifdef __cplusplus
}
#endif

#endif
