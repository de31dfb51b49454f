/*
 * cache_table.c - finds entries by the hash of their key; see cache_table.h.
 */
#include "core/memory_cache/cache_table.h"

enum { FIRST_PLACES = 64, GLANCE_STEPS = 64 };

static size_t array_size(size_t count)
{
    return sizeof(struct table_array) + count * sizeof(struct table_place);
}

static struct table_array *array_create(const ingot_allocator_t *allocator, size_t count)
{
    struct table_array *array = alloc_bytes(allocator, array_size(count));
    if (array == NULL)
        return NULL;
    array->previous = NULL;
    array->count = count;
    for (size_t i = 0; i < count; ++i) {
        atomic_init(&array->places[i].hash, 0);
        atomic_init(&array->places[i].entry, NULL);
    }
    return array;
}

ingot_status_t cache_table_init(struct cache_table *table, const ingot_allocator_t *allocator)
{
    struct table_array *array = array_create(allocator, FIRST_PLACES);
    atomic_init(&table->array, array);
    table->entry_count = 0;
    return array != NULL ? INGOT_SUCCESS : INGOT_OUT_OF_MEMORY;
}

/* Under the lock. All relaxed, because only threads that hold the lock write. */
static struct table_array *current(const struct cache_table *table)
{
    return atomic_load_explicit(&table->array, memory_order_relaxed);
}

static struct cache_entry *entry_at(const struct table_array *array, size_t index)
{
    return atomic_load_explicit(&array->places[index].entry, memory_order_relaxed);
}

static uint64_t hash_at(const struct table_array *array, size_t index)
{
    return atomic_load_explicit(&array->places[index].hash, memory_order_relaxed);
}

void cache_table_fini(struct cache_table *table, const ingot_allocator_t *allocator)
{
    struct table_array *array = current(table);
    while (array != NULL) {
        struct table_array *previous = array->previous;
        alloc_free(allocator, array, array_size(array->count));
        array = previous;
    }
    atomic_store_explicit(&table->array, NULL, memory_order_relaxed);
}

/* relaxed: with a reference, or under the lock, the hash does not change */
static bool has_hash(const struct cache_entry *entry, const struct hash128 *hash)
{
    return atomic_load_explicit(&entry->hash_low, memory_order_relaxed) == hash->low &&
           atomic_load_explicit(&entry->hash_high, memory_order_relaxed) == hash->high;
}

struct cache_entry *cache_table_glance(const struct cache_table *table, const struct cache_request *request,
                                       unsigned stripe)
{
    /* acquire, of the array and of an entry: pairs with the releases in put and cache_table_reserve */
    const struct table_array *array = atomic_load_explicit(&table->array, memory_order_acquire);
    size_t index = request->hash.low & (array->count - 1);

    for (int step = 0; step < GLANCE_STEPS; ++step) {
        const struct table_place *place = &array->places[index];
        struct cache_entry *entry = atomic_load_explicit(&place->entry, memory_order_acquire);
        if (entry == NULL)
            return NULL;
        /* relaxed: the hash may be that of the previous or next entry; once the entry is held, its own hash is
         * checked */
        if (atomic_load_explicit(&place->hash, memory_order_relaxed) == request->hash.low &&
            entry_try_retain(entry, stripe)) {
            if (has_hash(entry, &request->hash) && entry->pool->ops.matches(entry->value, request->key))
                return entry;
            entry_release(entry, stripe);
        }
        index = (index + 1) & (array->count - 1);
    }
    return NULL;
}

struct cache_entry *cache_table_find(const struct cache_table *table, const struct memory_cache_ops *ops,
                                     const struct cache_request *request)
{
    const struct table_array *array = current(table);
    size_t index = request->hash.low & (array->count - 1);

    for (;; index = (index + 1) & (array->count - 1)) {
        struct cache_entry *entry = entry_at(array, index);
        if (entry == NULL)
            return NULL;
        if (hash_at(array, index) == request->hash.low && has_hash(entry, &request->hash) &&
            ops->matches(entry->value, request->key))
            return entry;
    }
}

static void put(struct table_array *array, size_t index, uint64_t hash, struct cache_entry *entry)
{
    atomic_store_explicit(&array->places[index].hash, hash, memory_order_relaxed);
    /* release: pairs with the acquire in cache_table_glance, which reads the entry's fields */
    atomic_store_explicit(&array->places[index].entry, entry, memory_order_release);
}

static void put_in_first_empty(struct table_array *array, uint64_t hash, struct cache_entry *entry)
{
    size_t index = hash & (array->count - 1);
    while (entry_at(array, index) != NULL)
        index = (index + 1) & (array->count - 1);
    put(array, index, hash, entry);
}

bool cache_table_reserve(struct cache_table *table, const ingot_allocator_t *allocator)
{
    struct table_array *old = current(table);
    if (table->entry_count < old->count / 2)
        return true;
    struct table_array *array = array_create(allocator, old->count * 2);
    if (array == NULL)
        return table->entry_count < old->count / 8 * 7; /* walks get longer, and must end */
    for (size_t i = 0; i < old->count; ++i) {
        if (entry_at(old, i) != NULL)
            put_in_first_empty(array, hash_at(old, i), entry_at(old, i));
    }
    array->previous = old;
    /* release: pairs with the acquire in cache_table_glance */
    atomic_store_explicit(&table->array, array, memory_order_release);
    return true;
}

void cache_table_insert(struct cache_table *table, struct cache_entry *entry)
{
    put_in_first_empty(current(table), atomic_load_explicit(&entry->hash_low, memory_order_relaxed), entry);
    ++table->entry_count;
}

static size_t place_of(const struct table_array *array, const struct cache_entry *entry)
{
    size_t index = atomic_load_explicit(&entry->hash_low, memory_order_relaxed) & (array->count - 1);
    while (entry_at(array, index) != entry)
        index = (index + 1) & (array->count - 1);
    return index;
}

void cache_table_remove(struct cache_table *table, struct cache_entry *entry)
{
    struct table_array *array = current(table);
    const size_t last = array->count - 1;
    size_t hole = place_of(array, entry);

    /* Moves an entry into the hole if the hole would end the walk to it. */
    for (size_t index = (hole + 1) & last; entry_at(array, index) != NULL; index = (index + 1) & last) {
        const size_t home = hash_at(array, index) & last;
        if (((index - home) & last) < ((index - hole) & last))
            continue;
        put(array, hole, hash_at(array, index), entry_at(array, index));
        hole = index;
    }
    put(array, hole, 0, NULL);
    --table->entry_count;
}

uint64_t cache_table_count_hits(const struct cache_table *table)
{
    const struct table_array *array = current(table);
    uint64_t hits = 0;

    for (size_t i = 0; i < array->count; ++i) {
        const struct cache_entry *entry = entry_at(array, i);
        if (entry != NULL)
            hits += entry_hits(entry);
    }
    return hits;
}

void cache_table_prefetch(const struct cache_table *table, const struct cache_entry *entry)
{
    const struct table_array *array = current(table);
    const uint64_t hash = atomic_load_explicit(&entry->hash_low, memory_order_relaxed);
    __builtin_prefetch(&array->places[hash & (array->count - 1)], 1);
}
