/*
 * cache_hit.h - a hit by memo, which may happen millions of times per second.
 *
 * It is for threads that own a stripe, and inline, so that a hit is one function without a stack frame. It takes no
 * lock and writes nothing that other threads write. doc/threading.md says why that is safe.
 */
#ifndef INGOT_CORE_MEMORY_CACHE_CACHE_HIT_H
#define INGOT_CORE_MEMORY_CACHE_CACHE_HIT_H

#include "core/memory_cache/cache_state.h"

/*
 * Does what memory_cache_recall does in the usual case, for a thread that owns a stripe. NULL: not the usual case;
 * nothing was changed, and memory_cache_recall has the answer.
 */
static inline struct cache_entry *cache_recall_fast(struct memory_cache *cache, struct cache_memo *memo)
{
    struct owned_stripe *own = stripe_of_own;
    /* acquire: pairs with memory_cache_remember; what the pointer leads to is initialized */
    struct cache_entry *entry = atomic_load_explicit(&memo->entry, memory_order_acquire);
    if (own == NULL || entry == NULL)
        return NULL;
    const unsigned stripe = own->number;
    struct cache_slot *slot = entry_slot(entry, stripe);

    stripe_enter(own);
    /* relaxed, all: the stripe's owner, which may have been another thread then, acquired this life when it set the
     * bit. No life whose bit the thread sees can end between stripe_enter and stripe_leave, so if the serial equals the
     * memo's, the reference is for the right life. */
    const uint64_t mask = atomic_load_explicit(&entry->mask, memory_order_relaxed);
    const uint64_t count = atomic_load_explicit(&slot->count, memory_order_relaxed) + (SLOT_HIT + 1);
    const bool is_hit = (mask >> stripe & 1) != 0 && count < SLOT_HITS_FULL &&
                        atomic_load_explicit(&entry->serial, memory_order_relaxed) ==
                            atomic_load_explicit(&memo->serial, memory_order_relaxed);
    if (is_hit)
        atomic_store_explicit(&slot->count, count, memory_order_relaxed);
    stripe_leave(own);
    if (!is_hit)
        return NULL;
    /* relaxed: see recency_stamp */
    atomic_store_explicit(&slot->last_used, recency_stamp(&cache->generation, &cache->stripes[stripe].stamp, true),
                          memory_order_relaxed);
    return entry;
}

#endif
