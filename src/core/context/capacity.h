/*
 * capacity.h - converts the public capacity of a cache to its limits.
 */
#ifndef INGOT_CORE_CONTEXT_CAPACITY_H
#define INGOT_CORE_CONTEXT_CAPACITY_H

#include "core/memory_cache/memory_cache.h"

extern const struct memory_cache_limits capacity_defaults;

/* Replaces zeros with the given defaults. Returns INGOT_INVALID_ARGUMENTS if struct_size is not set or a flag is
 * unknown. */
ingot_status_t capacity_read(const ingot_cache_capacity_t *capacity, const struct memory_cache_limits *defaults,
                             struct memory_cache_limits *limits);

#endif
