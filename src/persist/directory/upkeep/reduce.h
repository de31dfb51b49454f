/*
 * reduce.h - evicts entries down to given limits, and recounts a store; both run on request and may take long.
 */
#ifndef INGOT_PERSIST_DIRECTORY_UPKEEP_REDUCE_H
#define INGOT_PERSIST_DIRECTORY_UPKEEP_REDUCE_H

#include "persist/directory/layout/state.h"
#include "persist/directory/upkeep/watch.h"

/* Limits to which a store is reduced; UINT64_MAX means no limit. */
struct reduce_limits {
    uint64_t bytes;
    uint64_t entry_count;
    uint64_t age_ns;
};

/* What was evicted. */
struct reduce_result {
    uint64_t entry_count;
    uint64_t bytes;
};

/* Evicts entries of one namespace, or of all namespaces together if name_space is NULL, until the limits are met. Sets
 * *result even on failure. Returns INGOT_SUCCESS even if the watch ends the work early. */
ingot_status_t reduce_to_limits(struct directory *directory, const char *name_space, const struct reduce_limits *limits,
                                const char *reason, struct upkeep_watch *watch, struct reduce_result *result);

/* Compares the index with the entries that exist, and corrects the index and the totals, for one namespace, or for all
 * if name_space is NULL. If `count` is NULL, only drops the records of entries that have vanished. In a read-only
 * store, only counts, or does nothing if `count` is NULL. Returns INGOT_SUCCESS even if the watch ends the work
 * early. */
ingot_status_t reduce_recount(struct directory *directory, const char *name_space, struct upkeep_watch *watch,
                              ingot_persist_count_t *count);

#endif
