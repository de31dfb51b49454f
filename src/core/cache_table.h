/*
 * cache_table.h - entries by the hash of their key, found without a lock.
 *
 * Chains run through the entries. Changes are made under the lock of the cache; a reader walks along with them. Since
 * entries and tables stay what they are as long as the cache lives, the worst that a walk meets is an entry that has
 * become another and a chain that leads elsewhere: it then finds nothing, and whoever must be sure looks again under
 * the lock. A walk is cut off after a number of steps, so that changes cannot keep it going.
 */
#ifndef INGOT_CORE_CACHE_TABLE_H
#define INGOT_CORE_CACHE_TABLE_H

#include "core/cache_entry.h"

struct cache_heads {
    struct cache_heads *previous; /* smaller ones, kept for walks that began in them */
    size_t count;                 /* a power of two */
    _Atomic(struct cache_entry *) first[];
};

struct cache_table {
    _Atomic(struct cache_heads *) heads; /* written under cache->lock */
    size_t entry_count;                  /* under cache->lock */
};

ingot_status_t cache_table_init(struct cache_table *table, const ingot_allocator_t *allocator);
void cache_table_fini(struct cache_table *table, const ingot_allocator_t *allocator);

/* Without the lock. The entry is retained for the stripe; NULL: not found, though it may be there. */
struct cache_entry *cache_table_glance(const struct cache_table *table, const struct cache_request *request,
                                       unsigned stripe);
/* Under the lock: exact. */
struct cache_entry *cache_table_find(const struct cache_table *table, const struct memory_cache_ops *ops,
                                     const struct cache_request *request);
/* Grows as needed; where memory is short chains get longer instead. */
void cache_table_insert(struct cache_table *table, const ingot_allocator_t *allocator, struct cache_entry *entry);
void cache_table_remove(struct cache_table *table, struct cache_entry *entry);

#endif
