/*
 * trace.h - sends events to the application's callback and to the output that INGOT_TRACE names.
 *
 * If neither is set, an event costs one test.
 */
#ifndef INGOT_CORE_BASE_TRACE_H
#define INGOT_CORE_BASE_TRACE_H

#include <stdbool.h>
#include <sys/types.h>

#include <ingot/ingot.h>

#include "util/kept_file.h"

struct trace {
    bool wanted;         /* true if there is a callback or a file, or events are counted */
    bool wants_hits;     /* true if there is a callback or a file */
    const char *counted; /* the backend for which metrics.h counts events; NULL: none */
    ingot_event_callback_t callback;
    void *user;
    int file; /* descriptor of INGOT_TRACE's output, or -1 */
    bool owns_file;
    struct kept_file own; /* the same descriptor, if owns_file is set */
};

/* `destination` is the value of INGOT_TRACE, or NULL. If the file cannot be opened, prints one message to standard
 * error. */
void trace_init(struct trace *trace, ingot_event_callback_t callback, void *user, const char *destination);
void trace_fini(struct trace *trace);
static inline bool trace_wanted(const struct trace *trace)
{
    return trace->wanted;
}
/* Counts events from now on, as those of a backend. */
static inline void trace_count(struct trace *trace, const char *backend)
{
    trace->counted = backend;
    trace->wanted = true;
}
void trace_emit(const struct trace *trace, const ingot_event_t *event);
/* Returns the kind's name in INGOT_TRACE's output, or "unknown event". */
const char *event_kind_name(ingot_event_kind_t kind);

#endif
