/*
 * trace.h - events to whoever asked for them: the application's callback and INGOT_TRACE.
 *
 * An event costs one test where nobody asked.
 */
#ifndef INGOT_CORE_BASE_TRACE_H
#define INGOT_CORE_BASE_TRACE_H

#include <stdbool.h>

#include <ingot/ingot.h>

struct trace {
    bool wanted; /* by callback or file */
    ingot_event_callback_t callback;
    void *user;
    int file; /* descriptor of INGOT_TRACE's output, or -1 */
    bool owns_file;
};

/* destination: INGOT_TRACE's value, or NULL. A file that cannot be opened is reported once, on standard error. */
void trace_init(struct trace *trace, ingot_event_callback_t callback, void *user, const char *destination);
void trace_fini(struct trace *trace);
static inline bool trace_wanted(const struct trace *trace)
{
    return trace->wanted;
}
void trace_emit(const struct trace *trace, const ingot_event_t *event);

#endif
