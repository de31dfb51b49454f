/*
 * cache_recency.h - finds the least recently used entry.
 *
 * Each hit gets a stamp, which consists of a generation and a number. Insertions and evictions advance the generation;
 * the number counts the stripe's hits within it.
 *
 * A hit only writes its stamp to the entry's cell; evictions keep the order. Entries are in a heap, by the stamp that
 * was last seen in them, which is never later than their current stamp. To find the least recently used entry, an
 * eviction takes the first entry. If that entry's stamp is still current, the search is over. Otherwise the entry moves
 * to the place of its current stamp, and the next one is checked. So each move is caused by a hit.
 * Locks: everything here requires cache->lock, except for recency_stamp.
 */
#ifndef INGOT_CORE_MEMORY_CACHE_CACHE_RECENCY_H
#define INGOT_CORE_MEMORY_CACHE_CACHE_RECENCY_H

#include "core/memory_cache/cache_entry.h"

#define STAMP_SEQUENCE_BITS 20

struct recency_heap_item {
    uint64_t stamp; /* a copy of the entry's stamp, which saves reading the entry's memory */
    struct cache_entry *entry;
};

/* All zeros: empty. */
struct cache_recency {
    struct recency_heap_item *heap; /* four children per node */
    size_t count;
    size_t capacity;
};

void recency_fini(struct cache_recency *recency, const ingot_allocator_t *allocator);
/* Makes room for this many entries, at most one more than before. Returns false if out of memory. */
bool recency_reserve(struct cache_recency *recency, const ingot_allocator_t *allocator, size_t entry_count);
/* Adds an entry. There must be room for it. */
void recency_add(struct cache_recency *recency, struct cache_entry *entry);
void recency_remove(struct cache_recency *recency, struct cache_entry *entry);
/*
 * Returns the least recently used entry, or NULL if there is none. The caller has just advanced the generation to
 * `generation`. An entry whose stamp is of that generation is not checked again, so concurrent hits cannot prolong the
 * search endlessly.
 */
struct cache_entry *recency_oldest(struct cache_recency *recency, uint64_t generation);

/* Returns the stamp for a hit at this time. *last is the stripe's latest stamp. Needs no lock. */
static inline uint64_t recency_stamp(_Atomic uint64_t *generation, _Atomic uint64_t *last)
{
    /* relaxed: stamps order uses, not memory. Threads of one stripe may get the same stamp, but only within one
     * generation. */
    const uint64_t now = atomic_load_explicit(generation, memory_order_relaxed) << STAMP_SEQUENCE_BITS;
    const uint64_t before = atomic_load_explicit(last, memory_order_relaxed);
    const uint64_t stamp = (before > now ? before : now) + 1;

    atomic_store_explicit(last, stamp, memory_order_relaxed);
    if (stamp % (UINT64_C(1) << STAMP_SEQUENCE_BITS) == 0) {
        /* This hit, one in a million, used the generation's last number, so it advances the generation. */
        uint64_t expected = (stamp - 1) >> STAMP_SEQUENCE_BITS;
        atomic_compare_exchange_strong_explicit(generation, &expected, expected + 1, memory_order_relaxed,
                                                memory_order_relaxed);
    }
    return stamp;
}

#endif
