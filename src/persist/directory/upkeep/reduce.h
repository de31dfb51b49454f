/*
 * reduce.h - what is done to a whole store on request, however long it takes.
 */
#ifndef INGOT_PERSIST_DIRECTORY_UPKEEP_REDUCE_H
#define INGOT_PERSIST_DIRECTORY_UPKEEP_REDUCE_H

#include "persist/directory/layout/state.h"
#include "persist/directory/upkeep/watch.h"

/* Limits that a store is reduced to; UINT64_MAX is none. */
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

/* Evicts entries until limits are kept, of one namespace or, if that is NULL, of all together. *result is set in
 * any case. Succeeds, too, where the watch ends it. */
ingot_status_t reduce_to_limits(struct directory *directory, const char *name_space, const struct reduce_limits *limits,
                                const char *reason, struct upkeep_watch *watch, struct reduce_result *result);

/* Compares the index of one namespace, or of all, with what is there, and sets the totals right. With a NULL count,
 * only records whose entries have vanished are looked for. Read-only, it is counted alone. Succeeds, too, where the
 * watch ends it. */
ingot_status_t reduce_recount(struct directory *directory, const char *name_space, struct upkeep_watch *watch,
                              ingot_persist_count_t *count);

#endif
