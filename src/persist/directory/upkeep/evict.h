/*
 * evict.h - counts a store's entries, corrects size.txt, and evicts the oldest entries down to given limits.
 */
#ifndef INGOT_PERSIST_DIRECTORY_UPKEEP_EVICT_H
#define INGOT_PERSIST_DIRECTORY_UPKEEP_EVICT_H

#include "persist/directory/layout/account.h"
#include "persist/directory/upkeep/watch.h"

/* Limits to which a store is reduced; UINT64_MAX means no limit. */
struct evict_limits {
    uint64_t bytes;
    uint64_t entry_count;
    uint64_t age_ns;
};

/* What was evicted. */
struct evict_result {
    uint64_t entry_count;
    uint64_t bytes;
};

/* Returns a public limit of age in nanoseconds. */
uint64_t evict_age_ns(uint64_t max_age_ms, uint64_t default_ns);

/* Evicts entries of one namespace, or of all namespaces together if name_space is NULL, until the limits are met. Sets
 * *result even on failure. Returns INGOT_SUCCESS even if the watch ends the work early. */
ingot_status_t evict_to_limits(struct directory *directory, const char *name_space, const struct evict_limits *limits,
                               const char *reason, struct upkeep_watch *watch, struct evict_result *result);

/* How an eviction by the store itself may end early. Both functions return true if it should end. */
struct evict_end {
    bool (*ends_counting)(const struct directory *directory, uint64_t entry_count);
    bool (*ends_removing)(const struct directory *directory);
};

/*
 * Counts the entries of the store's namespace, and corrects size.txt. Evicts entries that are over the age limit. If an
 * entry of wanted_bytes does not fit (0: if the entries exceed a limit), also evicts the oldest entries down to the
 * low-water mark, and further ones until the entry fits. Sets *is_sample if counting ended early: then the counted
 * buckets stand for all. With is_small, counts under the lock; if counting ends early, corrects and evicts nothing.
 */
ingot_status_t evict_as_needed(struct directory *directory, uint64_t wanted_bytes, const struct evict_end *end,
                               bool is_small, bool *is_sample, struct evict_result *result);

/* Counts the entries of one namespace, or of all if name_space is NULL, and corrects size.txt, unless the store is
 * read-only. `count` may be NULL. Returns INGOT_SUCCESS even if the watch ends the work early. */
ingot_status_t evict_recount(struct directory *directory, const char *name_space, struct upkeep_watch *watch,
                             ingot_persist_count_t *count);

#endif
