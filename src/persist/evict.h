/*
 * evict.h - keeping a store below its limits, and its total right.
 */
#ifndef INGOT_PERSIST_EVICT_H
#define INGOT_PERSIST_EVICT_H

#include "persist/directory.h"

/* To what a store is to be reduced; UINT64_MAX is no limit. */
struct evict_limits {
    uint64_t bytes;
    uint64_t entry_count;
    uint64_t age_ns;
};

/* What went. */
struct evict_result {
    uint64_t entry_count;
    uint64_t bytes;
};

/*
 * Makes the total known, and small enough for an entry of so many bytes; by whoever gets to it first. What is to go
 * beyond that, down to the low-water mark, mostly goes after this and the next entries are stored.
 * INGOT_BUSY: another was at it until the deadline. INGOT_NO_SPACE: eviction is off.
 */
ingot_status_t evict_make_room(struct directory *directory, uint64_t bytes, uint64_t deadline_ns);

/* After each entry that was stored: goes on with what evict_make_room left for later, if nobody else is at it. */
void evict_go_on(struct directory *directory);

/* Before each entry that is stored: counts the entries when it is time to, and lets some go where there are too many.
 * Failures are left to the next time. INGOT_NO_SPACE: there are too many, and eviction is off. */
ingot_status_t evict_for_count(struct directory *directory, uint64_t bytes, uint64_t deadline_ns);

/* Lets entries go until limits are kept, of one namespace where that is not NULL. *result is set in any case. */
ingot_status_t evict_to_limits(struct directory *directory, const char *name_space, const struct evict_limits *limits,
                               const char *reason, struct evict_result *result);

/* Counts the store and, unless it is read-only, sets its total right. */
ingot_status_t evict_recount(struct directory *directory, ingot_persist_count_t *count);

#endif
