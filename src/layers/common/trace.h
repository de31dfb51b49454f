/*
 * trace.h - writes a layer's own events to the trace (INGOT_TRACE): which programs passed through and why, what the
 * layer builds for itself, and why there is no store. Ingot's contexts write their events to the same trace.
 */
#ifndef INGOT_LAYERS_COMMON_TRACE_H
#define INGOT_LAYERS_COMMON_TRACE_H

#include <ingot/ingot.h>

/* Writes an event. The functions for storages' events call this one, too. */
void layer_trace(const ingot_event_t *event, void *unused);
/* Reports a program that passed through. `reason` may be ingot_last_error_detail(). */
void layer_trace_passed(ingot_status_t status, const char *reason);

#endif
