/*
 * cache_table.c - finds entries by the hash of their key, without a lock; see cache_table.h.
 */
#include "core/memory_cache/cache_table.h"

enum { FIRST_PLACES = 64, UNLOCKED_STEPS = 64 };

static size_t array_size(size_t count)
{
    return sizeof(struct table_array) + count * sizeof(_Atomic uint64_t);
}

static struct table_array *array_create(const struct cache_pool *pool, size_t count)
{
    struct table_array *array = memory_allocate(&pool->allocator, array_size(count));
    if (array == NULL)
        return NULL;
    array->previous = NULL;
    array->count = count;
    for (size_t i = 0; i < count; ++i)
        atomic_init(&array->places[i], 0);
    return array;
}

ingot_status_t cache_table_init(struct cache_table *table, const struct cache_pool *pool)
{
    struct table_array *array = array_create(pool, FIRST_PLACES);
    table->pool = pool;
    atomic_init(&table->array, array);
    table->entry_count = 0;
    return array != NULL ? INGOT_SUCCESS : INGOT_OUT_OF_MEMORY;
}

/* Returns the current array. Requires cache->lock; relaxed, because only threads that hold the lock write the
 * pointer. */
static struct table_array *get_current_array(const struct cache_table *table)
{
    return atomic_load_explicit(&table->array, memory_order_relaxed);
}

static uint64_t place_at(const struct table_array *array, size_t index)
{
    return atomic_load_explicit(&array->places[index], memory_order_relaxed);
}

static struct cache_entry *entry_at(const struct cache_table *table, uint64_t place)
{
    return entry_of_number(table->pool, (uint32_t)place);
}

/* Returns the part of a hash that a place stores. It also determines where a walk begins. */
static uint32_t hash_in_place(uint64_t hash)
{
    return (uint32_t)hash;
}

static size_t home_of(const struct table_array *array, uint64_t place)
{
    return (size_t)(place >> 32) & (array->count - 1);
}

void cache_table_fini(struct cache_table *table)
{
    struct table_array *array = get_current_array(table);
    while (array != NULL) {
        struct table_array *previous = array->previous;
        memory_free(&table->pool->allocator, array, array_size(array->count));
        array = previous;
    }
    atomic_store_explicit(&table->array, NULL, memory_order_relaxed);
}

struct cache_entry *cache_table_lookup_unlocked(const struct cache_table *table, const struct cache_request *request,
                                                unsigned stripe)
{
    /* acquire, for the array and for its places: pairs with the releases in put and cache_table_reserve */
    const struct table_array *array = atomic_load_explicit(&table->array, memory_order_acquire);
    const uint32_t hash = hash_in_place(request->hash.low);
    size_t index = hash & (array->count - 1);

    for (int step = 0; step < UNLOCKED_STEPS; ++step) {
        const uint64_t place = atomic_load_explicit(&array->places[index], memory_order_acquire);
        if (place == 0)
            return NULL;
        if (place >> 32 == hash) {
            struct cache_entry *entry = entry_at(table, place);
            if (entry_try_hit(entry, stripe)) {
                if (table->pool->ops.matches(entry->value, request->key))
                    return entry;
                entry_undo_hit(entry, stripe);
            }
        }
        index = (index + 1) & (array->count - 1);
    }
    return NULL;
}

struct cache_entry *cache_table_lookup(const struct cache_table *table, const struct cache_request *request)
{
    const struct table_array *array = get_current_array(table);
    const uint32_t hash = hash_in_place(request->hash.low);

    for (size_t index = hash & (array->count - 1);; index = (index + 1) & (array->count - 1)) {
        const uint64_t place = place_at(array, index);
        if (place == 0)
            return NULL;
        if (place >> 32 == hash && table->pool->ops.matches(entry_at(table, place)->value, request->key))
            return entry_at(table, place);
    }
}

static void store_place(struct table_array *array, size_t index, uint64_t place)
{
    /* release: pairs with the acquire in cache_table_lookup_unlocked, which reads the entry's fields */
    atomic_store_explicit(&array->places[index], place, memory_order_release);
}

static void put_in_first_empty(struct table_array *array, uint64_t place)
{
    size_t index = home_of(array, place);
    while (place_at(array, index) != 0)
        index = (index + 1) & (array->count - 1);
    store_place(array, index, place);
}

bool cache_table_reserve(struct cache_table *table)
{
    struct table_array *old = get_current_array(table);
    if (table->entry_count < old->count / 2)
        return true;
    struct table_array *array = array_create(table->pool, old->count * 2);
    if (array == NULL)
        /* the table may become fuller, which makes walks longer, but never full, because a walk ends at an empty
         * place */
        return table->entry_count < old->count / 8 * 7;
    for (size_t i = 0; i < old->count; ++i) {
        if (place_at(old, i) != 0)
            put_in_first_empty(array, place_at(old, i));
    }
    array->previous = old;
    /* release: pairs with the acquire in cache_table_lookup_unlocked */
    atomic_store_explicit(&table->array, array, memory_order_release);
    return true;
}

static uint64_t make_entry_place(const struct cache_entry *entry)
{
    return (uint64_t)hash_in_place(entry->hash) << 32 | entry_number(entry);
}

void cache_table_insert(struct cache_table *table, struct cache_entry *entry)
{
    put_in_first_empty(get_current_array(table), make_entry_place(entry));
    ++table->entry_count;
}

void cache_table_remove(struct cache_table *table, struct cache_entry *entry)
{
    struct table_array *array = get_current_array(table);
    const size_t last = array->count - 1;
    const uint64_t place = make_entry_place(entry);
    size_t hole = home_of(array, place);

    while (place_at(array, hole) != place)
        hole = (hole + 1) & last;
    /* Emptying the hole would end the walk to some of the entries after it. These are moved into the hole, one after
     * the other. */
    for (size_t index = (hole + 1) & last; place_at(array, index) != 0; index = (index + 1) & last) {
        const size_t home = home_of(array, place_at(array, index));
        if (((index - home) & last) < ((index - hole) & last))
            continue;
        store_place(array, hole, place_at(array, index));
        hole = index;
    }
    store_place(array, hole, 0);
    --table->entry_count;
}

uint64_t cache_table_count_hits(const struct cache_table *table)
{
    const struct table_array *array = get_current_array(table);
    uint64_t hits = 0;

    for (size_t i = 0; i < array->count; ++i) {
        const uint64_t place = place_at(array, i);
        if (place != 0)
            hits += entry_hits(entry_at(table, place));
    }
    return hits;
}
