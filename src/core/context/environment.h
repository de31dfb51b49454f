/*
 * environment.h - the INGOT_* variables, which a context reads once, when it is created.
 */
#ifndef INGOT_CORE_CONTEXT_ENVIRONMENT_H
#define INGOT_CORE_CONTEXT_ENVIRONMENT_H

#include "core/base/trace.h"
#include "core/memory_cache/memory_cache.h"

struct environment {
    const char *trace;           /* NULL: off */
    const char *compile_options; /* "" if not set */
    const char *link_options;
    bool header_memo;
    struct memory_cache_limits limits; /* from the variables, or the defaults */
};

/* Returns the defaults if ignore is set. A malformed value that would be used is INGOT_INVALID_ARGUMENTS with a
 * sentence that names the variable. */
ingot_status_t environment_read(struct environment *environment, bool ignore, bool uses_limits);

/* Emits an event for each variable INGOT_... that Ingot does not know, with the most similar known name. */
void environment_tell_unknown(const struct trace *trace);

#endif
