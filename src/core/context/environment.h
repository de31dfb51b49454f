/*
 * environment.h - the INGOT_* variables that a context reads, once, when it is made.
 */
#ifndef INGOT_CORE_CONTEXT_ENVIRONMENT_H
#define INGOT_CORE_CONTEXT_ENVIRONMENT_H

#include "core/base/trace.h"
#include "core/memory_cache/memory_cache.h"

struct environment {
    const char *trace;           /* NULL: off */
    const char *compile_options; /* "" where not set */
    const char *link_options;
    struct memory_cache_limits limits; /* of the variables, else the defaults */
};

/* With ignore set, the defaults. Nonsense that would be used is INGOT_INVALID_ARGUMENTS and names the variable. */
ingot_status_t environment_read(struct environment *environment, bool ignore, bool uses_limits);

/* An event for each variable INGOT_... that is none of Ingot's, with the nearest one that is. */
void environment_tell_unknown(const struct trace *trace);

#endif
