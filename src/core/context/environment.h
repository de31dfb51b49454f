/*
 * environment.h - reads the INGOT_* environment variables, once for each context that is created.
 */
#ifndef INGOT_CORE_CONTEXT_ENVIRONMENT_H
#define INGOT_CORE_CONTEXT_ENVIRONMENT_H

#include "core/base/trace.h"
#include "core/memory_cache/memory_cache.h"

struct environment {
    const char *trace;           /* NULL if tracing is off */
    const char *compile_options; /* "" if not set, like link_options */
    const char *link_options;
    bool header_memo;
    struct memory_cache_limits limits;
};

/* Reads the variables, or sets the defaults if `ignore` is true. The cache's limits are the given ones; without any,
 * the variables' ones. If a value that would be used is malformed, returns INGOT_INVALID_ARGUMENTS with an error
 * message that names the variable. */
ingot_status_t environment_read(struct environment *environment, bool ignore, const ingot_cache_capacity_t *capacity);

/* Emits an event for each INGOT_* variable that Ingot does not know. The event suggests the most similar known name. */
void environment_tell_unknown(const struct trace *trace);

#endif
