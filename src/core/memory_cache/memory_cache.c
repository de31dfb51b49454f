/*
 * memory_cache.c - finds, keeps and evicts the entries of the in-memory cache.
 *
 * Invariant: an entry in the cache is in the table, in the eviction order, in its groups and in the totals; any other
 * entry is in none of them. All of these change under the lock. Entries that leave are withdrawn under the lock but
 * released after it is dropped, because releasing them calls the cache's user. doc/threading.md explains why a hit
 * needs no lock.
 */
#include "core/memory_cache/memory_cache.h"

#include <string.h>

#include "core/base/error.h"
#include "core/memory_cache/cache_hit.h"
#include "core/memory_cache/cache_state.h"
#include "util/process_number.h"

ingot_status_t memory_cache_create(struct memory_cache **out, const ingot_allocator_t *allocator,
                                   const struct memory_cache_ops *ops, void *user,
                                   const struct memory_cache_limits *limits)
{
    struct memory_cache *cache = memory_allocate_aligned(allocator, sizeof(*cache), STRIPE_LINE);
    if (cache == NULL)
        return error_out_of_memory();
    memset(cache, 0, sizeof(*cache));
    cache->limits = *limits;
    groups_init(&cache->groups);
    cache->flights.process = process_number();

    pthread_mutex_init(&cache->lock, NULL);
    cache_pool_init(&cache->pool, allocator, ops, user);
    if (cache_table_init(&cache->table, &cache->pool) != INGOT_SUCCESS) {
        cache_pool_fini(&cache->pool);
        pthread_mutex_destroy(&cache->lock);
        memory_free(allocator, cache, sizeof(*cache));
        return error_out_of_memory();
    }
    *out = cache;
    return INGOT_SUCCESS;
}

void memory_cache_destroy(struct memory_cache *cache)
{
    if (cache == NULL)
        return;
    memory_cache_close(cache);
    const ingot_allocator_t allocator = cache->pool.allocator;
    recency_fini(&cache->recency, &allocator);
    groups_fini(&cache->groups, &allocator);
    cache_table_fini(&cache->table);
    cache_pool_fini(&cache->pool);
    pthread_mutex_destroy(&cache->lock);
    memory_free(&allocator, cache, sizeof(*cache));
}

struct cache_entry *cache_entry_create(struct memory_cache *cache, void *value)
{
    struct cache_entry *entry = cache_pool_take(&cache->pool, value);
    if (entry == NULL) {
        memory_cache_empty(cache);
        entry = cache_pool_take(&cache->pool, value);
    }
    if (entry == NULL)
        error_out_of_memory();
    return entry;
}

/* ---- hits ---- */

struct cache_entry *cache_memo_lookup_rest(struct cache_memo *memo, struct cache_entry *entry)
{
    const unsigned stripe = stripe_number();

    /* relaxed, both: see cache_memo_lookup_fast */
    if (atomic_load_explicit(entry_serial(entry), memory_order_relaxed) !=
        atomic_load_explicit(&memo->serial, memory_order_relaxed)) {
        entry_undo_hit(entry, stripe);
        return NULL;
    }
    entry_move_hits(entry, stripe);
    cache_stamp_use(entry_pool(entry), stripe, entry_cell(entry, stripe));
    return entry;
}

struct cache_entry *cache_memo_lookup(struct cache_memo *memo)
{
    struct cache_entry *pending = NULL;

    (void)stripe_number();
    struct cache_entry *entry = cache_memo_lookup_fast(memo, &pending);
    return pending != NULL ? cache_memo_lookup_rest(memo, pending) : entry;
}

void memory_cache_remember(struct memory_cache *cache, struct cache_memo *memo, struct cache_entry *entry)
{
    if (memo == NULL || entry_pool(entry) != &cache->pool)
        return;
    /* relaxed: the caller holds the entry, so it has already acquired the serial */
    const uint64_t serial = atomic_load_explicit(entry_serial(entry), memory_order_relaxed);
    if (serial == 0)
        return; /* the entry has never been in the cache */
    /* Two threads may write at once, and the memo may then contain one thread's serial and the other's entry.
     * doc/threading.md explains why that is harmless. */
    atomic_store_explicit(&memo->serial, serial, memory_order_relaxed);
    atomic_store_explicit(&memo->entry, entry, memory_order_release); /* pairs with cache_memo_lookup_fast */
}

struct cache_entry *memory_cache_lookup_unlocked(struct memory_cache *cache, const struct cache_request *request)
{
    const unsigned stripe = stripe_number();
    struct cache_entry *entry = cache_table_lookup_unlocked(&cache->table, request, stripe);
    if (entry != NULL) {
        cache_stamp_use(&cache->pool, stripe, entry_cell(entry, stripe));
        memory_cache_remember(cache, request->memo, entry);
    }
    return entry;
}

bool memory_cache_contains(struct memory_cache *cache, const struct cache_request *request)
{
    const unsigned stripe = stripe_number();
    struct cache_entry *entry = cache_table_lookup_unlocked(&cache->table, request, stripe);
    if (entry != NULL)
        entry_undo_hit(entry, stripe);
    return entry != NULL;
}

struct cache_entry *memory_cache_lookup_locked(struct memory_cache *cache, const struct cache_request *request)
{
    struct cache_entry *entry = cache_table_lookup(&cache->table, request);
    if (entry != NULL) {
        const unsigned stripe = stripe_number();
        struct cache_cell *cell = entry_hit_locked(entry, stripe);
        if (cell != NULL)
            cache_stamp_use(&cache->pool, stripe, cell);
        memory_cache_remember(cache, request->memo, entry);
    }
    return entry;
}

struct cache_entry *memory_cache_lookup(struct memory_cache *cache, const struct cache_request *request)
{
    struct cache_entry *entry = request->memo != NULL ? cache_memo_lookup(request->memo) : NULL;
    if (entry == NULL)
        entry = memory_cache_lookup_unlocked(cache, request);
    if (entry == NULL) {
        pthread_mutex_lock(&cache->lock);
        entry = memory_cache_lookup_locked(cache, request);
        pthread_mutex_unlock(&cache->lock);
    }
    return entry;
}

/* ---- evictions ---- */

void memory_cache_begin_change(struct memory_cache *cache, struct cache_victims *victims)
{
    victims->first = NULL;
    victims->end = &victims->first;
    pthread_mutex_lock(&cache->lock);
}

void memory_cache_end_change(struct memory_cache *cache, struct cache_victims *victims, bool report)
{
    const struct memory_cache_ops *ops = &cache->pool.ops;

    for (const struct cache_entry *entry = victims->first; entry != NULL; entry = entry->next)
        ++cache->evictions[entry->reason];
    pthread_mutex_unlock(&cache->lock);
    while (victims->first != NULL) {
        struct cache_entry *entry = victims->first;
        victims->first = entry->next;
        if (report && ops->evicted != NULL)
            ops->evicted(cache->pool.user, entry->value, entry->bytes, entry->reason);
        entry_release(entry);
    }
}

void memory_cache_evict(struct memory_cache *cache, struct cache_entry *entry, enum eviction_reason reason,
                        struct cache_victims *victims)
{
    cache_table_remove(&cache->table, entry);
    recency_remove(&cache->recency, entry);
    groups_remove_entry(&cache->groups, &cache->pool.allocator, entry);
    cache->hits_of_gone += entry_withdraw(entry);
    cache->bytes -= entry->bytes;
    entry->reason = (uint8_t)reason;
    entry->next = NULL;
    *victims->end = entry;
    victims->end = &entry->next;
}

static uint64_t advance_generation(struct memory_cache *cache)
{
    /* relaxed: see recency_stamp */
    return atomic_fetch_add_explicit(&cache->pool.generation, 1, memory_order_relaxed) + 1;
}

/* Evicts the least recently used entries until this many more entries and bytes fit. Requires the lock. */
static void evict_oldest_entries(struct memory_cache *cache, size_t entries, size_t bytes,
                                 struct cache_victims *victims)
{
    const struct memory_cache_limits *limits = &cache->limits;
    uint64_t generation = 0;

    while (cache->table.entry_count != 0) {
        const bool too_many = cache->table.entry_count + entries > limits->max_entries;
        const bool too_large = limits->max_bytes != 0 && cache->bytes > limits->max_bytes - bytes;
        if (!too_many && !too_large)
            break;
        if (generation == 0)
            generation = advance_generation(cache);
        struct cache_entry *oldest = recency_oldest(&cache->recency, generation);
        memory_cache_evict(cache, oldest, too_many ? EVICTED_COUNT : EVICTED_BYTES, victims);
    }
}

void memory_cache_evict_all(struct memory_cache *cache, enum eviction_reason reason, struct cache_victims *victims)
{
    const uint64_t generation = advance_generation(cache);
    while (cache->table.entry_count != 0)
        memory_cache_evict(cache, recency_oldest(&cache->recency, generation), reason, victims);
}

/* ---- keeping ---- */

bool memory_cache_is_too_large(const struct memory_cache *cache, size_t bytes)
{
    const size_t most = cache->limits.max_bytes != 0 ? cache->limits.max_bytes : SIZE_MAX;
    return most < CACHE_ENTRY_OVERHEAD || bytes > most - CACHE_ENTRY_OVERHEAD;
}

static bool may_be_kept(const struct memory_cache *cache, const struct cache_request *request,
                        const struct cache_entry *entry, size_t bytes)
{
    if (cache->closed || cache->limits.max_entries == 0)
        return false;
    if (memory_cache_is_too_large(cache, bytes))
        return false;
    if (bytes + CACHE_ENTRY_OVERHEAD > SIZE_MAX - cache->bytes)
        return false;
    /* A maker may return an entry that it got elsewhere: from another cache, or from this one, perhaps under the
     * same key. relaxed: the caller holds the entry. */
    if (entry_pool(entry) != &cache->pool || atomic_load_explicit(entry_serial(entry), memory_order_relaxed) != 0)
        return false;
    return cache->pool.ops.matches(entry->value, request->key);
}

bool memory_cache_keep(struct memory_cache *cache, const struct cache_request *request, struct cache_entry *entry,
                       size_t bytes, struct cache_entry *old, struct cache_victims *victims)
{
    const ingot_allocator_t *allocator = &cache->pool.allocator;
    const bool grouped = group_is_named(request->group);
    const bool is_new_group = grouped && groups_find(&cache->groups, request->group) == NULL;

    if (!may_be_kept(cache, request, entry, bytes) ||
        !recency_reserve(&cache->recency, allocator, cache->table.entry_count + 1) ||
        !cache_table_reserve(&cache->table))
        return false;
    if (grouped && !groups_add_entry(&cache->groups, allocator, request->group, entry))
        return false;

    /* From here on nothing fails, so nothing is evicted in vain. */
    if (old != NULL)
        memory_cache_evict(cache, old, EVICTED_REPLACED, victims);
    if (is_new_group)
        memory_cache_make_room_for_group(cache, request->group, victims);
    evict_oldest_entries(cache, 1, bytes + CACHE_ENTRY_OVERHEAD, victims);
    entry->bytes = bytes + CACHE_ENTRY_OVERHEAD;
    entry->stamp = advance_generation(cache) << STAMP_SEQUENCE_BITS;
    entry->hash = request->hash.low;
    /* relaxed: entry_publish makes it visible */
    atomic_store_explicit(&entry->is_ungrouped, !grouped, memory_order_relaxed);
    recency_add(&cache->recency, entry);
    cache->bytes += entry->bytes;
    entry_publish(entry, ++cache->last_serial);
    cache_table_insert(&cache->table, entry);
    return true;
}

void memory_cache_empty(struct memory_cache *cache)
{
    if (!cache->pool.ops.cannot_remake)
        memory_cache_clear(cache, NULL, EVICTED_MEMORY);
}

/* ---- entries that the caller puts and takes ---- */

bool memory_cache_put(struct memory_cache *cache, const struct cache_request *request, struct cache_entry *entry,
                      size_t bytes)
{
    struct cache_victims victims;
    memory_cache_begin_change(cache, &victims);
    const bool kept =
        memory_cache_keep(cache, request, entry, bytes, cache_table_lookup(&cache->table, request), &victims);
    memory_cache_end_change(cache, &victims, true);
    return kept;
}

struct cache_entry *memory_cache_take(struct memory_cache *cache, const struct cache_request *request)
{
    struct cache_victims victims;
    memory_cache_begin_change(cache, &victims);
    struct cache_entry *entry = memory_cache_lookup_locked(cache, request);
    if (entry != NULL)
        memory_cache_evict(cache, entry, EVICTED_TAKEN, &victims);
    memory_cache_end_change(cache, &victims, false);
    return entry;
}

bool memory_cache_has(const struct memory_cache *cache, const struct cache_entry *entry)
{
    return entry_pool(entry) == &cache->pool && entry->is_kept;
}

bool memory_cache_forget(struct memory_cache *cache, struct cache_entry *entry)
{
    struct cache_victims victims;
    memory_cache_begin_change(cache, &victims);
    const bool is_in_it = memory_cache_has(cache, entry);
    if (is_in_it)
        memory_cache_evict(cache, entry, EVICTED_CLEAR, &victims);
    memory_cache_end_change(cache, &victims, true);
    return is_in_it;
}

void memory_cache_recount(struct memory_cache *cache, struct cache_entry *entry, size_t bytes)
{
    struct cache_victims victims;
    memory_cache_begin_change(cache, &victims);
    const size_t others = memory_cache_has(cache, entry) ? cache->bytes - entry->bytes : SIZE_MAX;
    if (bytes <= SIZE_MAX - CACHE_ENTRY_OVERHEAD && bytes + CACHE_ENTRY_OVERHEAD <= SIZE_MAX - others) {
        entry->bytes = bytes + CACHE_ENTRY_OVERHEAD;
        cache->bytes = others + entry->bytes;
        if (cache->limits.max_bytes != 0 && entry->bytes > cache->limits.max_bytes)
            memory_cache_evict(cache, entry, EVICTED_BYTES, &victims);
        evict_oldest_entries(cache, 0, 0, &victims);
    }
    memory_cache_end_change(cache, &victims, true);
}

/* ---- the whole cache ---- */

void memory_cache_close(struct memory_cache *cache)
{
    struct cache_victims victims;
    memory_cache_begin_change(cache, &victims);
    cache->closed = true;
    flights_discard(&cache->flights, NULL, NULL);
    memory_cache_evict_all(cache, EVICTED_CLEAR, &victims);
    memory_cache_end_change(cache, &victims, false);
}

const struct memory_cache_limits *memory_cache_get_limits(const struct memory_cache *cache)
{
    return &cache->limits;
}

void memory_cache_get_counts(struct memory_cache *cache, struct memory_cache_counts *counts)
{
    counts->hits = 0;
    for (size_t i = 0; i < STRIPE_COUNT; ++i)
        counts->hits += atomic_load_explicit(&cache->pool.stripes[i].hits, memory_order_relaxed);
    pthread_mutex_lock(&cache->lock);
    counts->hits += cache->hits_of_gone + cache_table_count_hits(&cache->table);
    counts->misses = cache->misses;
    counts->waits = cache->waits;
    memcpy(counts->evictions, cache->evictions, sizeof(counts->evictions));
    counts->entries = cache->table.entry_count;
    counts->bytes = cache->bytes;
    counts->groups = cache->groups.count;
    pthread_mutex_unlock(&cache->lock);
}
