/*
 * cache_state.h - the in-memory cache, as its own files see it.
 *
 * Locks: `lock` guards everything marked so. Under it nothing is called but the allocator and ops.matches. The order is
 * lock, then the wait graph's (core/wait_graph.c); the pool's own is never taken under either.
 */
#ifndef INGOT_CORE_MEMORY_CACHE_CACHE_STATE_H
#define INGOT_CORE_MEMORY_CACHE_CACHE_STATE_H

#include "core/memory_cache/cache_flight.h"
#include "core/memory_cache/cache_groups.h"
#include "core/memory_cache/cache_recency.h"
#include "core/memory_cache/cache_table.h"

enum { CACHE_LINE_PAIR = 128 }; /* processors fetch lines in pairs */

/* What the hits of one stripe write. */
struct cache_stripe {
    _Alignas(CACHE_LINE_PAIR) _Atomic uint64_t stamp;
    _Atomic uint64_t hits; /* those not counted in slots */
};

struct memory_cache {
    struct cache_stripe stripes[STRIPE_COUNT];

    /* What hits read; written by insertions and evictions. */
    _Alignas(CACHE_LINE_PAIR) _Atomic uint64_t generation;
    struct cache_table table;
    struct cache_pool pool;

    _Alignas(CACHE_LINE_PAIR) os_mutex lock;
    /* all below: under lock */
    struct cache_recency recency;
    struct cache_groups groups;
    struct cache_flights flights;
    struct memory_cache_limits limits;
    bool closed;
    uint64_t last_serial;
    size_t bytes;
    uint64_t hits_of_gone; /* that were counted in slots of entries which have left */
    uint64_t misses;
    uint64_t waits;
    uint64_t evictions[EVICTION_REASONS];
};

/* Entries that left the cache and are to be let go once the lock is dropped; linked by `newer`. */
struct cache_victims {
    struct cache_entry *first;
    struct cache_entry **end;
    uint64_t stripes; /* that counted references on them */
};

void victims_init(struct cache_victims *victims);
/* Without the lock. */
void victims_let_go(struct cache_victims *victims, struct memory_cache *cache, bool report);

/*
 * Under lock. Puts an entry that was just made into the cache, and what has to leave for it into victims. False: it is
 * not kept, which is no failure.
 */
bool memory_cache_keep(struct memory_cache *cache, const struct cache_request *request, struct cache_entry *entry,
                       size_t bytes, struct cache_victims *victims);
/* Under lock: takes an entry out, for victims_let_go. */
void memory_cache_evict(struct memory_cache *cache, struct cache_entry *entry, enum eviction_reason reason,
                        struct cache_victims *victims);
void memory_cache_evict_all(struct memory_cache *cache, enum eviction_reason reason, struct cache_victims *victims);
/* Under lock: counts what one call evicted. */
void memory_cache_count_victims(struct memory_cache *cache, const struct cache_victims *victims);
/* Under lock: whether the entry, which the caller holds, is in the cache. */
bool memory_cache_has(const struct memory_cache *cache, const struct cache_entry *entry);

/* ---- memory_cache_groups.c ---- */

/* Under lock. Drops groups until one more named so fits, NULL: until the limits are kept. */
void memory_cache_make_room_for_group(struct memory_cache *cache, const char *name, struct cache_victims *victims);
/* Without the lock, by one who holds the entry: it is in the request's group from now on, too. */
void memory_cache_join_group(struct memory_cache *cache, const struct cache_request *request,
                             struct cache_entry *entry);

/* Evicts everything because memory is short. Without the lock. */
void memory_cache_empty(struct memory_cache *cache);
/* Under lock: the entry for the request with a reference, counted as a hit; or NULL. */
struct cache_entry *memory_cache_find_locked(struct memory_cache *cache, const struct cache_request *request);
/* By content, without the lock; may miss what is there. */
struct cache_entry *memory_cache_glance(struct memory_cache *cache, const struct cache_request *request);
/* The caller holds the entry, and it is of the memo's key. */
void memory_cache_remember(struct memory_cache *cache, struct cache_memo *memo, struct cache_entry *entry);

#endif
