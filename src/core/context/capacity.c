/*
 * capacity.c - converts the public capacity of a cache to its limits; see capacity.h.
 */
#include "core/context/capacity.h"

#include "core/base/error.h"
#include "util/limit.h"
#include "util/struct_size.h"

_Static_assert(INGOT_UNLIMITED == LIMIT_UNLIMITED && INGOT_NONE == LIMIT_NONE, "util/limit.h has the same values");

/* Returns a limit of the cache, in which `unlimited` is the value for no limit. */
static size_t size_of_limit(uint64_t given, size_t by_default, size_t unlimited)
{
    if (given == 0)
        return by_default;
    return given < SIZE_MAX ? (size_t)given : unlimited;
}

const struct memory_cache_limits capacity_defaults = {.max_entries = INGOT_CACHE_DEFAULT_PROGRAMS};

ingot_status_t capacity_read(const ingot_cache_capacity_t *capacity, const struct memory_cache_limits *defaults,
                             struct memory_cache_limits *limits)
{
    ingot_cache_capacity_t known;
    if (!STRUCT_READ(known, capacity))
        return error_set(INGOT_INVALID_ARGUMENTS, "capacity is NULL, or its struct_size is not set");
    if ((known.flags & ~(uint32_t)(INGOT_CACHE_OFF | INGOT_CACHE_LRU_GROUPS)) != 0)
        return error_set(INGOT_INVALID_ARGUMENTS, "capacity has unknown flags: %#x", (unsigned)known.flags);
    limits->max_entries = size_of_limit(known.max_programs, defaults->max_entries, SIZE_MAX);
    if ((known.flags & INGOT_CACHE_OFF) != 0 || known.max_programs == INGOT_NONE || known.max_bytes == INGOT_NONE ||
        known.max_groups == INGOT_NONE)
        limits->max_entries = 0;
    limits->max_bytes = size_of_limit(known.max_bytes, defaults->max_bytes, 0);
    limits->max_groups = size_of_limit(known.max_groups, defaults->max_groups, 0);
    limits->max_family_groups = 0;
    limits->drops_least_used_group = defaults->drops_least_used_group || (known.flags & INGOT_CACHE_LRU_GROUPS) != 0;
    return INGOT_SUCCESS;
}
