/*
 * context_cache.c - implements the public functions that clear and query a context's in-memory cache.
 */
#include "core/base/error.h"
#include "core/context/context.h"
#include "util/struct_size.h"

ingot_status_t ingot_context_clear_cache(ingot_context_t context, const char *group)
{
    if (context == NULL)
        return error_null_argument("context");
    memory_cache_clear(context->programs, group, EVICTED_CLEAR);
    return INGOT_SUCCESS;
}

static uint64_t load_relaxed(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit((_Atomic uint64_t *)counter, memory_order_relaxed);
}

ingot_status_t ingot_context_get_cache_stats(const_ingot_context_t context, ingot_cache_stats_t *stats)
{
    ingot_cache_stats_t known = INGOT_CACHE_STATS_INIT;
    struct memory_cache_counts counts;

    if (context == NULL)
        return error_null_argument("context");
    memory_cache_get_counts(context->programs, &counts);
    known.hits = counts.hits;
    known.misses = counts.misses;
    known.waits = counts.waits;
    known.builds = load_relaxed(&context->counters.builds);
    known.build_failures = load_relaxed(&context->counters.build_failures);
    known.loads = load_relaxed(&context->counters.loads);
    known.load_failures = load_relaxed(&context->counters.load_failures);
    known.blobs_taken = load_relaxed(&context->counters.blobs_taken);
    known.evictions_count = counts.evictions[EVICTED_COUNT];
    known.evictions_bytes = counts.evictions[EVICTED_BYTES];
    known.evictions_groups = counts.evictions[EVICTED_GROUPS];
    known.evictions_clear = counts.evictions[EVICTED_CLEAR];
    known.evictions_memory = counts.evictions[EVICTED_MEMORY];
    known.programs = counts.entries;
    known.bytes = counts.bytes;
    known.groups = counts.groups;
    const struct memory_cache_limits *limits = memory_cache_get_limits(context->programs);
    known.max_programs = limits->max_entries;
    known.max_bytes = limits->max_bytes;
    known.max_groups = limits->max_groups;
    known.flags = (limits->max_entries == 0 ? (uint32_t)INGOT_CACHE_OFF : 0) |
                  (limits->drops_least_used_group ? (uint32_t)INGOT_CACHE_LRU_GROUPS : 0);
    return STRUCT_WRITE(stats, known)
               ? INGOT_SUCCESS
               : error_set(INGOT_INVALID_ARGUMENTS, "stats is NULL, or its struct_size is not set");
}
