/*
 * reduce.h - operations on a whole store, which run on request and may take long.
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

/* What went. */
struct reduce_result {
    uint64_t entry_count;
    uint64_t bytes;
};

/* Evicts entries until the limits are met, in one namespace or, if that is NULL, in all together. *result is set in any
 * case. Also succeeds if the watch ends the work. */
ingot_status_t reduce_to_limits(struct directory *directory, const char *name_space, const struct reduce_limits *limits,
                                const char *reason, struct upkeep_watch *watch, struct reduce_result *result);

/* Compares the index of one namespace, or of all, with the entries that exist, and corrects the totals. With a NULL
 * count, looks only for records whose entries have vanished. A read-only store is only counted. Also succeeds if the
 * watch ends the work. */
ingot_status_t reduce_recount(struct directory *directory, const char *name_space, struct upkeep_watch *watch,
                              ingot_persist_count_t *count);

#endif
