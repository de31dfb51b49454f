/*
 * cache_recency.h - finds the least recently used entry.
 *
 * A stamp consists of a generation, which insertions and evictions advance, and a number that counts a stripe's hits
 * within that generation.
 *
 * A hit writes its stamp to its own cell and does not change the order. An eviction determines the order: entries are
 * sorted by the stamp that was last seen, which is never later than the current one. The first entry is the least
 * recently used if its stamp is still current; otherwise it moves to its place, and the next entry is checked. So each
 * move follows a hit. Entries that never moved are in a list, which insertion keeps sorted at no cost; moved ones are
 * in a heap.
 * Locks: everything here requires cache->lock, except for recency_stamp.
 */
#ifndef INGOT_CORE_MEMORY_CACHE_CACHE_RECENCY_H
#define INGOT_CORE_MEMORY_CACHE_CACHE_RECENCY_H

#include "core/memory_cache/cache_entry.h"

#define STAMP_SEQUENCE_BITS 20

struct recency_heap_item {
    uint64_t stamp; /* the entry's stamp, copied to avoid a cache miss */
    struct cache_entry *entry;
};

struct cache_recency {
    struct cache_entry *oldest; /* of the list */
    struct cache_entry *newest;
    struct recency_heap_item *heap; /* four children per node */
    size_t heap_count;
    size_t heap_capacity; /* at least the number of entries, so that a move allocates nothing */
};

void recency_init(struct cache_recency *recency);
void recency_fini(struct cache_recency *recency, const ingot_allocator_t *allocator);
/* Makes room for this many entries. */
bool recency_reserve(struct cache_recency *recency, const ingot_allocator_t *allocator, size_t entry_count);
/* Adds an entry whose stamp is later than those of all entries in the list. */
void recency_add(struct cache_recency *recency, struct cache_entry *entry);
void recency_remove(struct cache_recency *recency, struct cache_entry *entry);
/*
 * Returns the least recently used entry, or NULL. The caller has just advanced the generation to `generation`. An entry
 * that is used after that is not checked again, so that concurrent hits cannot prolong this endlessly.
 */
struct cache_entry *recency_oldest(struct cache_recency *recency, uint64_t generation);

/* Returns the stamp of a hit now. Needs no lock. *last is the stripe's latest stamp. */
static inline uint64_t recency_stamp(_Atomic uint64_t *generation, _Atomic uint64_t *last)
{
    /* relaxed: stamps order uses, not memory. Threads of one stripe may take the same number, but only within one
     * generation. */
    const uint64_t now = atomic_load_explicit(generation, memory_order_relaxed) << STAMP_SEQUENCE_BITS;
    const uint64_t before = atomic_load_explicit(last, memory_order_relaxed);
    const uint64_t stamp = (before > now ? before : now) + 1;

    atomic_store_explicit(last, stamp, memory_order_relaxed);
    if (stamp % (UINT64_C(1) << STAMP_SEQUENCE_BITS) == 0) {
        /* The generation has no numbers left, so this hit, one in a million, advances it. */
        uint64_t expected = (stamp - 1) >> STAMP_SEQUENCE_BITS;
        atomic_compare_exchange_strong_explicit(generation, &expected, expected + 1, memory_order_relaxed,
                                                memory_order_relaxed);
    }
    return stamp;
}

#endif
