/*
 * cache_recency.h - who was used least recently.
 *
 * A stamp is a generation, which insertions and evictions advance, and a number that counts a stripe's hits within it.
 * The numbers of owned stripes are above those of shared ones, because a thread that gets an owned one had a shared one
 * before: so it goes on with higher numbers, in every cache.
 *
 * A hit leaves its stamp in its own slot and touches no order. The order is made when something must go: entries stand
 * under the stamp that they had when last looked at, which is never later than the true one. The first of them is the
 * least recently used if its stamp still holds; otherwise it is put where it belongs, and the next is looked at. Each
 * such move is paid for by a hit. Entries never moved stand in a list, which insertion sorts for nothing; moved ones
 * stand in a heap.
 * Locks: everything here under cache->lock, except for recency_stamp.
 */
#ifndef INGOT_CORE_MEMORY_CACHE_CACHE_RECENCY_H
#define INGOT_CORE_MEMORY_CACHE_CACHE_RECENCY_H

#include "core/memory_cache/cache_entry.h"

#define STAMP_SEQUENCE_BITS 20
#define STAMP_OWNED (UINT64_C(1) << (STAMP_SEQUENCE_BITS - 1)) /* where the numbers of owned stripes begin */

struct recency_heap_item {
    uint64_t stamp; /* the entry's, here for fewer cache misses */
    struct cache_entry *entry;
};

struct cache_recency {
    struct cache_entry *oldest; /* of the list */
    struct cache_entry *newest;
    struct recency_heap_item *heap; /* four children a node */
    size_t heap_count;
    size_t heap_capacity; /* at least the number of entries, so that a move needs no memory */
};

void recency_init(struct cache_recency *recency);
void recency_fini(struct cache_recency *recency, const ingot_allocator_t *allocator);
/* Room for so many entries. */
bool recency_reserve(struct cache_recency *recency, const ingot_allocator_t *allocator, size_t entry_count);
/* entry->stamp is later than that of all in the list. */
void recency_add(struct cache_recency *recency, struct cache_entry *entry);
void recency_remove(struct cache_recency *recency, struct cache_entry *entry);
/*
 * The least recently used entry, or NULL. The caller has just advanced the generation to `generation`: an entry used
 * after that is looked at no second time, so that hits that go on meanwhile cannot keep this from ending.
 */
struct cache_entry *recency_oldest(struct cache_recency *recency, uint64_t generation);

/* The stamp of a hit now, in a stripe that is shared or owned. Without a lock; *last is the stripe's own. */
static inline uint64_t recency_stamp(_Atomic uint64_t *generation, _Atomic uint64_t *last, bool owned)
{
    /* relaxed: stamps order uses, not memory. Threads of one stripe may take the same number: they are no further
     * apart than one generation. */
    const uint64_t now = atomic_load_explicit(generation, memory_order_relaxed) << STAMP_SEQUENCE_BITS;
    const uint64_t least = owned ? now + STAMP_OWNED : now;
    const uint64_t before = atomic_load_explicit(last, memory_order_relaxed);
    const uint64_t stamp = (before > least ? before : least) + 1;

    atomic_store_explicit(last, stamp, memory_order_relaxed);
    if (stamp % STAMP_OWNED == 0) {
        /* The numbers of this generation are used up: once in half a million hits a hit advances it. */
        uint64_t expected = (stamp - 1) >> STAMP_SEQUENCE_BITS;
        atomic_compare_exchange_strong_explicit(generation, &expected, expected + 1, memory_order_relaxed,
                                                memory_order_relaxed);
    }
    return stamp;
}

#endif
