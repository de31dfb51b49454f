/*
 * cache_entry.c - the pool of entries, and how an entry enters and leaves the cache; see cache_entry.h.
 */
#include "core/memory_cache/cache_entry.h"

#include "core/base/error.h"

ingot_status_t cache_pool_init(struct cache_pool *pool, const ingot_allocator_t *allocator,
                               const struct memory_cache_ops *ops, void *user)
{
    pool->allocator = *allocator;
    pool->ops = *ops;
    pool->user = user;
    pool->free = NULL;
    pool->chunks = NULL;
    return os_mutex_init(&pool->lock);
}

void cache_pool_fini(struct cache_pool *pool)
{
    while (pool->chunks != NULL) {
        struct cache_chunk *chunk = pool->chunks;
        pool->chunks = chunk->next;
        alloc_free(&pool->allocator, chunk, sizeof(*chunk));
    }
    os_mutex_fini(&pool->lock);
}

static struct cache_chunk *chunk_create(struct cache_pool *pool)
{
    struct cache_chunk *chunk = alloc_aligned(&pool->allocator, sizeof(*chunk), CACHE_LINE);
    if (chunk == NULL)
        return NULL;
    for (size_t stripe = 0; stripe < STRIPE_COUNT; ++stripe) {
        for (size_t i = 0; i < ENTRIES_PER_CHUNK; ++i) {
            atomic_init(&chunk->slots[stripe][i].count, SLOT_BIAS);
            atomic_init(&chunk->slots[stripe][i].last_used, 0);
        }
    }
    for (size_t i = 0; i < ENTRIES_PER_CHUNK; ++i) {
        struct cache_entry *entry = &chunk->entries[i];
        atomic_init(&entry->mask, ENTRY_KILLED);
        atomic_init(&entry->serial, 0);
        atomic_init(&entry->group_hash, 0);
        atomic_init(&entry->is_ungrouped, false);
        atomic_init(&entry->hash_low, 0);
        atomic_init(&entry->hash_high, 0);
        atomic_init(&entry->central, 0);
        entry->slots = &chunk->slots[0][i];
        entry->pool = pool;
        entry->newer = i + 1 < ENTRIES_PER_CHUNK ? entry + 1 : NULL;
    }
    return chunk;
}

static struct cache_entry *pop_free(struct cache_pool *pool)
{
    struct cache_entry *entry = pool->free;
    if (entry != NULL)
        pool->free = entry->newer;
    return entry;
}

struct cache_entry *cache_pool_take(struct cache_pool *pool, void *value)
{
    os_mutex_lock(&pool->lock);
    struct cache_entry *entry = pop_free(pool);
    os_mutex_unlock(&pool->lock);

    if (entry == NULL) {
        struct cache_chunk *chunk = chunk_create(pool);
        if (chunk == NULL)
            return NULL;
        entry = &chunk->entries[0];
        os_mutex_lock(&pool->lock);
        chunk->next = pool->chunks;
        pool->chunks = chunk;
        chunk->entries[ENTRIES_PER_CHUNK - 1].newer = pool->free;
        pool->free = entry->newer;
        os_mutex_unlock(&pool->lock);
    }
    entry->value = value;
    entry->member = (struct cache_member){.entry = entry};
    atomic_store_explicit(&entry->group_hash, 0, memory_order_relaxed);
    atomic_store_explicit(&entry->is_ungrouped, false, memory_order_relaxed);
    /* relaxed: other threads read either only after they got the entry from the caller or retained it after
     * entry_publish */
    atomic_store_explicit(&entry->serial, 0, memory_order_relaxed);
    atomic_store_explicit(&entry->central, 1, memory_order_relaxed);
    return entry;
}

void entry_publish(struct cache_entry *entry, uint64_t serial)
{
    /* relaxed: the releases below make it visible to threads that retain through a slot */
    atomic_store_explicit(&entry->serial, serial, memory_order_relaxed);
    /* Before the slots: a thread that retains by a revived slot may drop the reference in central. */
    atomic_fetch_add_explicit(&entry->central, CENTRAL_BIG + 1, memory_order_relaxed);

    const uint64_t mask = atomic_load_explicit(&entry->mask, memory_order_relaxed);
    for (unsigned stripe = 0; stripe < STRIPES_SHARED; ++stripe) {
        /* release: pairs with the acquire in entry_try_add_shared of a thread that read mask in an earlier life */
        if ((mask >> stripe & 1) != 0)
            atomic_store_explicit(&entry_slot(entry, stripe)->count, SLOT_BIAS, memory_order_release);
    }
    /* release: pairs with the acquires of mask in entry_joined and entry_join */
    atomic_fetch_and_explicit(&entry->mask, ~ENTRY_KILLED, memory_order_release);
}

static uint64_t hits_in_slots(const struct cache_entry *entry, uint64_t stripes)
{
    uint64_t hits = 0;

    for (unsigned stripe = 0; stripes != 0; ++stripe, stripes >>= 1) {
        /* relaxed: a number */
        if ((stripes & 1) != 0)
            hits += atomic_load_explicit(&entry_slot(entry, stripe)->count, memory_order_relaxed) / SLOT_HIT;
    }
    return hits;
}

uint64_t entry_kill(struct cache_entry *entry)
{
    uint64_t mask = atomic_load_explicit(&entry->mask, memory_order_relaxed);

    /* relaxed: only the set of stripes is read; after this no thread uses a slot for the first time */
    while (!atomic_compare_exchange_weak_explicit(&entry->mask, &mask, (mask | ENTRY_KILLED) & ~STRIPE_SET_OWNED,
                                                  memory_order_relaxed, memory_order_relaxed)) {
    }
    entry->stripes = mask;
    entry->hits = hits_in_slots(entry, mask);
    return mask;
}

uint64_t entry_collect(struct cache_entry *entry)
{
    uint64_t stripes = entry->stripes;
    int64_t references = 0;
    uint64_t hits = 0;

    for (unsigned stripe = 0; stripes != 0; ++stripe, stripes >>= 1) {
        if ((stripes & 1) == 0)
            continue;
        /* acquire: all use came before what was dropped there. release: a thread that finds it DEAD uses central later.
         * No thread changes an owned stripe's slot now; it is made ready for the next life. */
        const uint64_t count = atomic_exchange_explicit(
            &entry_slot(entry, stripe)->count, stripe_is_owned(stripe) ? SLOT_BIAS : SLOT_DEAD, memory_order_acq_rel);
        references += (int64_t)(count % SLOT_HIT) - (int64_t)SLOT_BIAS;
        hits += count / SLOT_HIT;
    }
    /* acq_rel: passes what the exchanges acquired to the thread that drops the last reference. The caller's reference
     * keeps the count above 0. */
    atomic_fetch_add_explicit(&entry->central, references - CENTRAL_BIG, memory_order_acq_rel);
    return hits - entry->hits;
}

uint64_t entry_hits(const struct cache_entry *entry)
{
    return hits_in_slots(entry, atomic_load_explicit(&entry->mask, memory_order_relaxed) & ~ENTRY_KILLED);
}

uint64_t entry_take_hits(struct cache_entry *entry, unsigned stripe)
{
    uint64_t count = atomic_load_explicit(&entry_slot(entry, stripe)->count, memory_order_relaxed);

    if (stripe_is_owned(stripe)) {
        const uint64_t hits = count / SLOT_HIT;
        return entry_try_add_owned(entry, stripe, -(hits * SLOT_HIT)) != SLOT_DEAD ? hits : 0;
    }
    do {
        if (count == SLOT_DEAD)
            return 0; /* entry_collect has counted them */
        /* relaxed: a read-modify-write continues the release sequence of earlier droppers */
    } while (!atomic_compare_exchange_weak_explicit(&entry_slot(entry, stripe)->count, &count, count % SLOT_HIT,
                                                    memory_order_relaxed, memory_order_relaxed));
    return count / SLOT_HIT;
}

bool entry_join(struct cache_entry *entry, uint64_t bit)
{
    uint64_t mask = atomic_load_explicit(&entry->mask, memory_order_acquire);
    do {
        if ((mask & ENTRY_KILLED) != 0)
            return false;
        /* acq_rel: acquires as entry_joined does; a later entry_kill sees the bit, by the order of changes to mask */
    } while (!atomic_compare_exchange_weak_explicit(&entry->mask, &mask, mask | bit, memory_order_acq_rel,
                                                    memory_order_acquire));
    return true;
}

/* Ends a life, after the last reference was dropped. */
static void end_life(struct cache_entry *entry)
{
    struct cache_pool *pool = entry->pool;
    void (*const destroy)(void *, void *) = pool->ops.destroy;
    void *const user = pool->user;
    void *const value = entry->value;

    os_mutex_lock(&pool->lock);
    entry->newer = pool->free;
    pool->free = entry;
    os_mutex_unlock(&pool->lock);
    error_keep(destroy, user, value); /* last: the value may hold the last reference to the cache */
}

void entry_release_centrally(struct cache_entry *entry)
{
    /* acq_rel: each dropper's use comes before the end of the life */
    if (atomic_fetch_sub_explicit(&entry->central, 1, memory_order_acq_rel) == 1)
        end_life(entry);
}

uint64_t entry_last_used(const struct cache_entry *entry)
{
    /* relaxed: a concurrent hit may be missed, as a slightly later one would be */
    uint64_t mask = atomic_load_explicit(&entry->mask, memory_order_relaxed) & ~ENTRY_KILLED;
    uint64_t latest = 0;

    for (unsigned stripe = 0; mask != 0; ++stripe, mask >>= 1) {
        if ((mask & 1) == 0)
            continue;
        const uint64_t stamp = atomic_load_explicit(&entry_slot(entry, stripe)->last_used, memory_order_relaxed);
        latest = stamp > latest ? stamp : latest;
    }
    return latest;
}

void *cache_entry_value(const struct cache_entry *entry)
{
    return entry->value;
}

void cache_entry_retain(struct cache_entry *entry)
{
    entry_retain(entry, stripe_number());
}

void cache_entry_release_slowly(struct cache_entry *entry)
{
    entry_release(entry, stripe_number());
}

void cache_entry_release(struct cache_entry *entry)
{
    cache_release_fast(entry);
}
