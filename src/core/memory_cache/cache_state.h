/*
 * cache_state.h - defines the in-memory cache's state, for use in this folder only.
 *
 * Locks: `lock` guards the fields that say so. While it is held, only the allocator and functions of `ops` that allow
 * it are called. The pool's lock is never taken while it is held.
 */
#ifndef INGOT_CORE_MEMORY_CACHE_CACHE_STATE_H
#define INGOT_CORE_MEMORY_CACHE_CACHE_STATE_H

#include <pthread.h>

#include "core/memory_cache/cache_flight.h"
#include "core/memory_cache/cache_groups.h"
#include "core/memory_cache/cache_recency.h"
#include "core/memory_cache/cache_table.h"

struct memory_cache {
    struct cache_pool pool;
    struct cache_table table;

    _Alignas(STRIPE_LINE) pthread_mutex_t lock;
    /* guarded by `lock`, like all fields below */
    struct cache_recency recency;
    struct cache_groups groups;
    struct cache_flights flights;
    struct memory_cache_limits limits;
    bool closed;
    uint64_t last_serial;
    size_t bytes;
    uint64_t hits_of_gone; /* hits that were counted in the cells of entries that have left the cache */
    uint64_t misses;
    uint64_t waits;
    uint64_t evictions[EVICTION_REASONS];
};

/* Entries that have left the cache and are released after the lock is dropped. Linked by `next`. */
struct cache_victims {
    struct cache_entry *first;
    struct cache_entry **end;
};

/* Begins a change of the cache's entries: takes the lock. */
void memory_cache_begin_change(struct memory_cache *cache, struct cache_victims *victims);
/* Ends it: counts the evictions in the statistics, drops the lock, reports the evictions if `report` is true, and
 * releases the entries. */
void memory_cache_end_change(struct memory_cache *cache, struct cache_victims *victims, bool report);

/*
 * Puts a new entry into the cache. Moves the entry that it replaces (`old`, or NULL), and entries that exceed the
 * limits, to the victims. Returns false if the new entry is not kept, which is not a failure; nothing is evicted then.
 * Requires the lock.
 */
bool memory_cache_keep(struct memory_cache *cache, const struct cache_request *request, struct cache_entry *entry,
                       size_t bytes, struct cache_entry *old, struct cache_victims *victims);
/* Moves an entry from the cache to the victims. Requires the lock. */
void memory_cache_evict(struct memory_cache *cache, struct cache_entry *entry, enum eviction_reason reason,
                        struct cache_victims *victims);
void memory_cache_evict_all(struct memory_cache *cache, enum eviction_reason reason, struct cache_victims *victims);
/* True if the entry is in the cache. The caller holds the entry. Requires the lock. */
bool memory_cache_has(const struct memory_cache *cache, const struct cache_entry *entry);

/* ---- the next two functions are in memory_cache_groups.c ---- */

/* Drops groups until the limits are met. `name` is a group that has just been added, and stays; NULL: the limits have
 * changed. Requires the lock. */
void memory_cache_make_room_for_group(struct memory_cache *cache, const char *name, struct cache_victims *victims);
/* Adds an entry that the caller holds to the request's group. The caller must not hold the lock. */
void memory_cache_join_group(struct memory_cache *cache, const struct cache_request *request,
                             struct cache_entry *entry);

/* Called when memory runs out: evicts everything, or nothing if the cache's values cannot be made again
 * (cannot_remake). The caller must not hold the lock. */
void memory_cache_empty(struct memory_cache *cache);
/* Returns the request's entry with a reference and counts a hit, or returns NULL. Requires the lock. */
struct cache_entry *memory_cache_lookup_locked(struct memory_cache *cache, const struct cache_request *request);
/* Finds an entry by content without the lock, retains it and counts a hit. May miss an entry that is in the cache. */
struct cache_entry *memory_cache_lookup_unlocked(struct memory_cache *cache, const struct cache_request *request);
/* Stores an entry in a memo. The caller holds the entry. The memo and the entry must have the same key. */
void memory_cache_remember(struct memory_cache *cache, struct cache_memo *memo, struct cache_entry *entry);

#endif
