/*
 * environment.h - the INGOT_* variables that a context reads, once, when it is made.
 */
#ifndef INGOT_CORE_ENVIRONMENT_H
#define INGOT_CORE_ENVIRONMENT_H

#include "core/memory_cache/memory_cache.h"

struct environment {
    const char *trace;           /* NULL: off */
    const char *compile_options; /* "" where not set */
    const char *link_options;
    struct memory_cache_limits limits; /* of the variables, else the defaults */
};

/* With ignore set, the defaults. Nonsense is INGOT_INVALID_ARGUMENTS and names the variable. */
ingot_status_t environment_read(struct environment *environment, bool ignore);

#endif
