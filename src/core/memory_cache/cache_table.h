/*
 * cache_table.h - finds entries by the hash of their key, without a lock.
 *
 * The table is an array of places with linear probing. Each place contains half of a hash and an entry's number, so a
 * walk passes other entries without reading their memory, which in a large cache would cost a processor cache miss per
 * entry. Changes are made under cache->lock, concurrently with readers. Entries and arrays stay readable as long as the
 * cache lives, and a reader compares an entry's key after it has retained the entry. So the worst effect of a change is
 * that a reader finds nothing; a reader that must be sure then looks again under the lock. A lock-free walk ends after
 * a fixed number of steps, so that changes cannot prolong it.
 */
#ifndef INGOT_CORE_MEMORY_CACHE_CACHE_TABLE_H
#define INGOT_CORE_MEMORY_CACHE_CACHE_TABLE_H

#include "core/memory_cache/cache_entry.h"

struct table_array {
    struct table_array *previous; /* the next smaller array, kept for walks that still use it */
    size_t count;                 /* a power of two */
    /* the hash in the upper half and entry_number in the lower; 0 is an empty place, which ends a walk */
    _Atomic uint64_t places[];
};

struct cache_table {
    const struct cache_pool *pool;
    _Atomic(struct table_array *) array; /* written under cache->lock */
    size_t entry_count;                  /* guarded by cache->lock */
};

ingot_status_t cache_table_init(struct cache_table *table, const struct cache_pool *pool);
void cache_table_fini(struct cache_table *table);

/* Finds an entry without the lock, retains it, and counts a hit for the stripe. Returns NULL if it is not found, and
 * sometimes even if it is in the table. */
struct cache_entry *cache_table_lookup_unlocked(const struct cache_table *table, const struct cache_request *request,
                                                unsigned stripe);
/* This function and all that follow require cache->lock. Returns the entry, without a new reference, or NULL if
 * there is none. */
struct cache_entry *cache_table_lookup(const struct cache_table *table, const struct cache_request *request);
/* Makes room for one more entry. Returns false if out of memory. */
bool cache_table_reserve(struct cache_table *table);
void cache_table_insert(struct cache_table *table, struct cache_entry *entry);
void cache_table_remove(struct cache_table *table, struct cache_entry *entry);
/* Returns the sum of entry_hits of all entries. */
uint64_t cache_table_count_hits(const struct cache_table *table);

#endif
