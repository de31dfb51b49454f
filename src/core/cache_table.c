/*
 * cache_table.c - entries by the hash of their key; see cache_table.h.
 */
#include "core/cache_table.h"

enum { FIRST_HEADS = 64, GLANCE_STEPS = 64 };

static size_t heads_size(size_t count)
{
    return sizeof(struct cache_heads) + count * sizeof(_Atomic(struct cache_entry *));
}

static struct cache_heads *heads_create(const ingot_allocator_t *allocator, size_t count)
{
    struct cache_heads *heads = alloc_bytes(allocator, heads_size(count));
    if (heads == NULL)
        return NULL;
    heads->previous = NULL;
    heads->count = count;
    for (size_t i = 0; i < count; ++i)
        atomic_init(&heads->first[i], NULL);
    return heads;
}

ingot_status_t cache_table_init(struct cache_table *table, const ingot_allocator_t *allocator)
{
    struct cache_heads *heads = heads_create(allocator, FIRST_HEADS);
    atomic_init(&table->heads, heads);
    table->entry_count = 0;
    return heads != NULL ? INGOT_SUCCESS : INGOT_OUT_OF_MEMORY;
}

void cache_table_fini(struct cache_table *table, const ingot_allocator_t *allocator)
{
    struct cache_heads *heads = atomic_load_explicit(&table->heads, memory_order_relaxed);
    while (heads != NULL) {
        struct cache_heads *previous = heads->previous;
        alloc_free(allocator, heads, heads_size(heads->count));
        heads = previous;
    }
    atomic_store_explicit(&table->heads, NULL, memory_order_relaxed);
}

/* relaxed: a first look without a reference decides nothing; with one, or under the lock, the hash does not change */
static bool has_hash(const struct cache_entry *entry, const struct hash128 *hash)
{
    return atomic_load_explicit(&entry->hash_low, memory_order_relaxed) == hash->low &&
           atomic_load_explicit(&entry->hash_high, memory_order_relaxed) == hash->high;
}

struct cache_entry *cache_table_glance(const struct cache_table *table, const struct cache_request *request,
                                       unsigned stripe)
{
    /* acquire, here and along the chain: pairs with the releases in cache_table_insert and grow */
    const struct cache_heads *heads = atomic_load_explicit(&table->heads, memory_order_acquire);
    struct cache_entry *entry =
        atomic_load_explicit(&heads->first[request->hash.low & (heads->count - 1)], memory_order_acquire);

    for (int step = 0; entry != NULL && step < GLANCE_STEPS; ++step) {
        if (has_hash(entry, &request->hash) && entry_try_retain(entry, stripe)) {
            if (has_hash(entry, &request->hash) && entry->pool->ops.matches(entry->value, request->key))
                return entry;
            entry_release(entry, stripe);
        }
        entry = atomic_load_explicit(&entry->next, memory_order_acquire);
    }
    return NULL;
}

/* Under the lock; relaxed throughout, since only those who hold the lock write. */
static _Atomic(struct cache_entry *) *chain_of(const struct cache_table *table, uint64_t hash_low)
{
    struct cache_heads *heads = atomic_load_explicit(&table->heads, memory_order_relaxed);
    return &heads->first[hash_low & (heads->count - 1)];
}

struct cache_entry *cache_table_find(const struct cache_table *table, const struct memory_cache_ops *ops,
                                     const struct cache_request *request)
{
    struct cache_entry *entry = atomic_load_explicit(chain_of(table, request->hash.low), memory_order_relaxed);
    while (entry != NULL && !(has_hash(entry, &request->hash) && ops->matches(entry->value, request->key)))
        entry = atomic_load_explicit(&entry->next, memory_order_relaxed);
    return entry;
}

static void prepend(_Atomic(struct cache_entry *) *chain, struct cache_entry *entry)
{
    struct cache_entry *first = atomic_load_explicit(chain, memory_order_relaxed);
    /* release, both: pairs with the acquires of cache_table_glance, which reads what the new link leads to */
    atomic_store_explicit(&entry->next, first, memory_order_release);
    atomic_store_explicit(chain, entry, memory_order_release);
}

static void grow(struct cache_table *table, const ingot_allocator_t *allocator)
{
    struct cache_heads *old = atomic_load_explicit(&table->heads, memory_order_relaxed);
    struct cache_heads *heads = heads_create(allocator, old->count * 2);
    if (heads == NULL)
        return;
    heads->previous = old;
    for (size_t i = 0; i < old->count; ++i) {
        struct cache_entry *entry = atomic_load_explicit(&old->first[i], memory_order_relaxed);
        while (entry != NULL) {
            struct cache_entry *next = atomic_load_explicit(&entry->next, memory_order_relaxed);
            const uint64_t hash = atomic_load_explicit(&entry->hash_low, memory_order_relaxed);
            prepend(&heads->first[hash & (heads->count - 1)], entry);
            entry = next;
        }
    }
    /* release: pairs with the acquire of cache_table_glance */
    atomic_store_explicit(&table->heads, heads, memory_order_release);
}

void cache_table_insert(struct cache_table *table, const ingot_allocator_t *allocator, struct cache_entry *entry)
{
    if (table->entry_count >= atomic_load_explicit(&table->heads, memory_order_relaxed)->count)
        grow(table, allocator);
    prepend(chain_of(table, atomic_load_explicit(&entry->hash_low, memory_order_relaxed)), entry);
    ++table->entry_count;
}

void cache_table_remove(struct cache_table *table, struct cache_entry *entry)
{
    _Atomic(struct cache_entry *) *link = chain_of(table, atomic_load_explicit(&entry->hash_low, memory_order_relaxed));
    struct cache_entry *at = atomic_load_explicit(link, memory_order_relaxed);

    while (at != entry) {
        link = &at->next;
        at = atomic_load_explicit(link, memory_order_relaxed);
    }
    /* The entry keeps its own link for walks that stand on it. release: as in prepend. */
    atomic_store_explicit(link, atomic_load_explicit(&entry->next, memory_order_relaxed), memory_order_release);
    --table->entry_count;
}
