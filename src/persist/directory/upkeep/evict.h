/*
 * evict.h - counts a store's entries, corrects size.txt, and evicts the oldest entries: on request, at once from a
 * small store, and in a thread from a larger one.
 */
#ifndef INGOT_PERSIST_DIRECTORY_UPKEEP_EVICT_H
#define INGOT_PERSIST_DIRECTORY_UPKEEP_EVICT_H

#include "persist/directory/layout/account.h"
#include "persist/directory/upkeep/survey.h"

/* Limits to which a store is reduced; UINT64_MAX means no limit. */
struct evict_limits {
    uint64_t bytes;
    uint64_t entry_count;
    uint64_t age_ns;
};

/* Converts an age limit of the public interface to nanoseconds. */
uint64_t evict_age_ns(uint64_t max_age_ms, uint64_t default_ns);

/* Evicts entries of one namespace, or of all namespaces together if name_space is NULL, until the limits are met.
 * The watch's progress says how many. Returns INGOT_SUCCESS even if the watch ends the work early. */
ingot_status_t evict_to_limits(const struct root *root, const char *name_space, const struct evict_limits *limits,
                               const char *reason, struct upkeep_watch *watch);

/* A store with at most this many entries is small: evicting from it takes a few milliseconds. */
#define EVICT_SMALL 128u

/* Ends the thread. Waits for it for about a second at most. */
void evict_fini(struct directory *directory);

/* Evicts from a small store at once: what is too old and, if an entry of wanted_bytes does not fit, as much as it needs
 * and further entries down to the low-water mark. Also corrects size.txt. Sets *is_done to false and changes nothing if
 * the store is not small. */
ingot_status_t evict_from_small(const struct root *root, uint64_t wanted_bytes, bool *is_done);
/* If the process has not evicted from this store yet, evicts the oldest entries of as many random buckets as can be
 * counted in some milliseconds, in the proportion in which the whole store should shrink. Otherwise, sets *is_done to
 * false. */
ingot_status_t evict_from_sample(const struct root *root, uint64_t wanted_bytes, bool *is_done);
/* Makes the store's thread do the same, unless it is at work already. Unless is_urgent is set, at most once per
 * minute. */
void evict_in_thread(struct directory *directory, uint64_t wanted_bytes, bool is_urgent);
/* Returns true if evict_from_small found during the last minute that the store is not small. */
bool evict_knows_large(const struct directory *directory);
/* Called when the store was opened, and when a blob was stored. Evicts entries that are over the age limit. */
void evict_expired(const struct root *root);

/* Adds to `count` the entries of one namespace, or of all if name_space is NULL, and corrects size.txt, unless the
 * store is read-only. Returns INGOT_SUCCESS even if the watch ends the work early. */
ingot_status_t evict_recount(const struct root *root, const char *name_space, struct upkeep_watch *watch,
                             ingot_persist_count_t *count);

#endif
