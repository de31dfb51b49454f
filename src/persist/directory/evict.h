/*
 * evict.h - counts a store's entries, corrects size.txt, and evicts the oldest entries: on request, and in the thread
 * that stores.
 */
#ifndef INGOT_PERSIST_DIRECTORY_EVICT_H
#define INGOT_PERSIST_DIRECTORY_EVICT_H

#include "persist/directory/account.h"
#include "persist/directory/scan.h"

#include <ingot/private/directory.h>

/* With at most this many entries, the oldest of all are evicted. */
#define EVICT_EXACT 4096u

/* Limits to which a store is reduced; UINT64_MAX means no limit. */
struct evict_limits {
    uint64_t bytes;
    uint64_t entry_count;
    uint64_t age_ns;
};

/* Converts an age limit of the public interface to nanoseconds. */
uint64_t evict_age_ns(uint64_t max_age_ms, uint64_t default_ns);

/* Counts the entries of the store's namespace, or of all together if it has none, and corrects size.txt, unless the
 * store is read-only. Then evicts entries until the limits are met, unless these are NULL; the watch's progress says
 * how many. Returns INGOT_SUCCESS even if the watch ends the work early. */
ingot_status_t evict_on_request(const struct root *root, const struct evict_limits *limits, struct upkeep_watch *watch,
                                ingot_persist_count_t *count);

/* Counts the entries of the store's namespace, corrects size.txt, and evicts what is too old and, if an entry of
 * wanted_bytes does not fit, the oldest entries down to the low-water mark, and further ones until it fits. If the
 * store has too many entries to count at once, only estimates the totals, unless size.txt has them, and sets *is_done
 * to false. */
ingot_status_t evict_exactly(const struct root *root, uint64_t wanted_bytes, bool *is_done);
/* Evicts the oldest entries of random shards, for some milliseconds, until the store is at its low-water mark, and
 * lower if an entry of wanted_bytes needs it. */
ingot_status_t evict_from_shards(const struct root *root, uint64_t wanted_bytes);
/* Called when the store was opened, and when a blob was stored. Evicts entries that are over the age limit. */
void evict_expired(const struct root *root);

#endif
