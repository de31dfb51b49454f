/*
 * evict.h - keeps a store below its limits by evicting a few entries at a time.
 */
#ifndef INGOT_PERSIST_DIRECTORY_UPKEEP_EVICT_H
#define INGOT_PERSIST_DIRECTORY_UPKEEP_EVICT_H

#include "persist/directory/layout/account.h"

/* The maximum number of entries that are evicted before the lock is released. */
#define EVICT_BATCH 16u

struct evicted_entry {
    uint64_t bucket;
    char aside[PATH_CAPACITY];
};

/* A round of evictions. */
struct eviction {
    struct account *account;
    uint64_t started_ns;
    uint64_t now_ns;
    size_t entry_count; /* entries moved to tmp */
    size_t forgotten;   /* records that were dropped because their entries had vanished */
    uint64_t bytes;
    struct evicted_entry entries[EVICT_BATCH];
};

void evict_begin(struct eviction *eviction, struct account *account);
/*
 * Moves up to EVICT_BATCH entries to tmp. Evicts entries that are over the age limit. If entry_count more entries with
 * `bytes` in total do not fit, also evicts as many as necessary, and some more towards the low-water mark. Requires the
 * account's lock. After INGOT_SUCCESS, there may still be no room, so the caller may need another round. Returns
 * INGOT_NO_SPACE if there is no room and this round removed nothing, because eviction is off or found no entry.
 */
ingot_status_t evict_some(struct eviction *eviction, uint64_t bytes, uint64_t entry_count);
/* Deletes the entries from tmp and emits events. The caller must not hold the lock. */
void evict_end(struct eviction *eviction);

/* Called when a store is opened. Evicts some entries that are over the age limit, unless another process holds the
 * lock. */
void evict_expired(struct directory *directory);

#endif
