/*
 * cache_hit.h - finds the entry that a descriptor remembers, which may happen millions of times per second.
 *
 * The code is inline, takes no lock and writes nothing that threads of other stripes write. doc/threading.md explains
 * why that is safe.
 */
#ifndef INGOT_CORE_MEMORY_CACHE_CACHE_HIT_H
#define INGOT_CORE_MEMORY_CACHE_CACHE_HIT_H

#include "core/memory_cache/cache_entry.h"
#include "core/memory_cache/cache_recency.h"

/* Records a use of an entry, for the order of evictions. `cell` is the entry's cell for the stripe. */
static inline void cache_stamp_use(struct cache_pool *pool, unsigned stripe, struct cache_cell *cell)
{
    /* relaxed: see recency_stamp */
    atomic_store_explicit(&cell->last_used, recency_stamp(&pool->generation, &pool->stripes[stripe].stamp),
                          memory_order_relaxed);
}

/*
 * Does what cache_memo_lookup describes, in the usual case, without calling other functions. In other cases, returns
 * NULL. If it has already taken a reference by then, it sets *pending, and the caller must call cache_memo_lookup_rest.
 */
static inline struct cache_entry *cache_memo_lookup_fast(struct cache_memo *memo, struct cache_entry **pending)
{
    /* acquire: pairs with memory_cache_remember, so the entry is seen initialized */
    struct cache_entry *entry = atomic_load_explicit(&memo->entry, memory_order_acquire);
    const unsigned stripe = stripe_plus_one - 1;

    *pending = NULL;
    if (entry == NULL || stripe >= STRIPE_COUNT)
        return NULL;
    struct cache_cell *cell = entry_cell(entry, stripe);
    const uint64_t before = cell != NULL ? cell_add(&cell->count, CELL_HIT + 1) : CELL_CLOSED;
    if (!cell_is_open(before))
        return NULL;
    /* relaxed, both: serials are unique, so equal serials prove that the entry is still in the life that was
     * remembered; cell_add has acquired the entry's serial */
    if (atomic_load_explicit(entry_serial(entry), memory_order_relaxed) !=
            atomic_load_explicit(&memo->serial, memory_order_relaxed) ||
        before >= CELL_HITS_FULL) {
        *pending = entry;
        return NULL;
    }
    cache_stamp_use(entry_pool(entry), stripe, cell);
    return entry;
}

/* Finishes cache_memo_lookup_fast for the entry in *pending. If the entry is the remembered one and its cell is full,
 * completes the hit. Otherwise drops the reference and returns NULL. */
struct cache_entry *cache_memo_lookup_rest(struct cache_memo *memo, struct cache_entry *entry);

#endif
