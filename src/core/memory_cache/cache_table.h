/*
 * cache_table.h - entries by the hash of their key, found without a lock.
 *
 * An array of (hash, entry) with linear probing: what is not asked for is passed over without a look at its memory,
 * which in a large cache would be a cache miss each. Changes are made under the lock of the cache, and a reader walks
 * along with them. Since entries and arrays stay readable as long as the cache lives, and whatever a reader finds it
 * checks again once it holds it, the worst that a change does to a reader is that it finds nothing; whoever must be
 * sure then looks again under the lock. A walk ends after a number of steps, so that changes cannot keep it going.
 */
#ifndef INGOT_CORE_MEMORY_CACHE_CACHE_TABLE_H
#define INGOT_CORE_MEMORY_CACHE_CACHE_TABLE_H

#include "core/memory_cache/cache_entry.h"

struct table_place {
    _Atomic uint64_t hash;               /* the low half */
    _Atomic(struct cache_entry *) entry; /* NULL: empty, and the end of a walk */
};

struct table_array {
    struct table_array *previous; /* smaller ones, kept for walks that began in them */
    size_t count;                 /* a power of two */
    struct table_place places[];
};

struct cache_table {
    _Atomic(struct table_array *) array; /* written under cache->lock */
    size_t entry_count;                  /* under cache->lock */
};

ingot_status_t cache_table_init(struct cache_table *table, const ingot_allocator_t *allocator);
void cache_table_fini(struct cache_table *table, const ingot_allocator_t *allocator);

/* Without the lock. The entry is retained for the stripe; NULL: not found, though it may be there. */
struct cache_entry *cache_table_glance(const struct cache_table *table, const struct cache_request *request,
                                       unsigned stripe);
/* Under the lock, as are all that follow: exact. */
struct cache_entry *cache_table_find(const struct cache_table *table, const struct memory_cache_ops *ops,
                                     const struct cache_request *request);
/* Room for one more entry. */
bool cache_table_reserve(struct cache_table *table, const ingot_allocator_t *allocator);
void cache_table_insert(struct cache_table *table, struct cache_entry *entry);
void cache_table_remove(struct cache_table *table, struct cache_entry *entry);
/* The sum of entry_hits. */
uint64_t cache_table_count_hits(const struct cache_table *table);
/* The entry may be removed soon. */
void cache_table_prefetch(const struct cache_table *table, const struct cache_entry *entry);

#endif
