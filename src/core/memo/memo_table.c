/*
 * memo_table.c - keeps entries in a hash table and in a list by their last use; see memo_table.h.
 */
#include "core/memo/memo_table.h"

#include <string.h>

#include "core/base/digest.h"

void memo_table_init(struct memo_table *table, size_t max_bytes)
{
    *table = (struct memo_table){.max_bytes = max_bytes};
    pthread_mutex_init(&table->lock, NULL);
}

void memo_entry_release(struct memo_entry *entry)
{
    /* acq_rel: all use of the entry happens before it is freed */
    if (entry != NULL && atomic_fetch_sub_explicit(&entry->references, 1, memory_order_acq_rel) == 1)
        entry->destroy(entry);
}

/* Releases entries that were taken out of the table. They are linked by `next`. */
static void release_dead_entries(struct memo_entry *dead)
{
    while (dead != NULL) {
        struct memo_entry *next = dead->next;
        memo_entry_release(dead);
        dead = next;
    }
}

void memo_table_fini(struct memo_table *table, const ingot_allocator_t *allocator)
{
    memo_table_clear(table);
    memory_free(allocator, table->buckets, MEMO_BUCKETS * sizeof(struct memo_entry *));
    pthread_mutex_destroy(&table->lock);
}

static struct memo_entry **find_entry_place(struct memo_table *table, const uint8_t key[MEMO_KEY_SIZE])
{
    struct memo_entry **place = &table->buckets[hash128_of(MEMO_KEY_SIZE, key).low % MEMO_BUCKETS];
    while (*place != NULL && memcmp((*place)->key, key, MEMO_KEY_SIZE) != 0)
        place = &(*place)->next;
    return place;
}

static void unlink_by_age(struct memo_table *table, struct memo_entry *entry)
{
    *(entry->newer != NULL ? &entry->newer->older : &table->newest) = entry->older;
    *(entry->older != NULL ? &entry->older->newer : &table->oldest) = entry->newer;
}

static void link_by_age(struct memo_table *table, struct memo_entry *entry, bool is_newest)
{
    entry->newer = is_newest ? NULL : table->oldest;
    entry->older = is_newest ? table->newest : NULL;
    *(entry->newer != NULL ? &entry->newer->older : &table->newest) = entry;
    *(entry->older != NULL ? &entry->older->newer : &table->oldest) = entry;
}

/* Takes the entry at `place` out of the table, and prepends it to the list `dead`, which is released later. */
static struct memo_entry *take_out_entry(struct memo_table *table, struct memo_entry **place, struct memo_entry *dead)
{
    struct memo_entry *entry = *place;
    *place = entry->next;
    unlink_by_age(table, entry);
    table->bytes -= entry->cost;
    --table->count;
    entry->next = dead;
    return entry;
}

struct memo_entry *memo_table_find(struct memo_table *table, const uint8_t key[MEMO_KEY_SIZE])
{
    pthread_mutex_lock(&table->lock);
    struct memo_entry *entry = table->buckets != NULL ? *find_entry_place(table, key) : NULL;
    if (entry != NULL) {
        atomic_fetch_add_explicit(&entry->references, 1, memory_order_relaxed);
        unlink_by_age(table, entry);
        link_by_age(table, entry, true);
    }
    pthread_mutex_unlock(&table->lock);
    return entry;
}

static void insert_entry(struct memo_table *table, struct memo_entry *entry, bool is_newest)
{
    struct memo_entry **bucket = &table->buckets[hash128_of(MEMO_KEY_SIZE, entry->key).low % MEMO_BUCKETS];
    atomic_fetch_add_explicit(&entry->references, 1, memory_order_relaxed);
    entry->next = *bucket;
    *bucket = entry;
    link_by_age(table, entry, is_newest);
    table->bytes += entry->cost;
    ++table->count;
}

/* Locks the table. Allocates its buckets first if it has none; they stay NULL if out of memory. The allocator is
 * called without the lock. */
static void lock_with_buckets(struct memo_table *table, const ingot_allocator_t *allocator)
{
    pthread_mutex_lock(&table->lock);
    if (table->buckets != NULL)
        return;
    pthread_mutex_unlock(&table->lock);
    struct memo_entry **room = memory_allocate_zeroed(allocator, MEMO_BUCKETS * sizeof(struct memo_entry *));
    pthread_mutex_lock(&table->lock);
    if (table->buckets == NULL) {
        table->buckets = room;
        return;
    }
    pthread_mutex_unlock(&table->lock);
    memory_free(allocator, room, MEMO_BUCKETS * sizeof(struct memo_entry *));
    pthread_mutex_lock(&table->lock);
}

void memo_table_put(struct memo_table *table, const ingot_allocator_t *allocator, struct memo_entry *entry)
{
    struct memo_entry *dead = NULL;

    lock_with_buckets(table, allocator);
    if (table->buckets != NULL && entry->cost <= table->max_bytes) {
        struct memo_entry **place = find_entry_place(table, entry->key);
        if (*place != NULL)
            dead = take_out_entry(table, place, dead);
        while (table->bytes > table->max_bytes - entry->cost)
            dead = take_out_entry(table, find_entry_place(table, table->oldest->key), dead);
        insert_entry(table, entry, true);
    }
    pthread_mutex_unlock(&table->lock);
    release_dead_entries(dead);
}

void memo_table_put_last(struct memo_table *table, const ingot_allocator_t *allocator, struct memo_entry *entry)
{
    lock_with_buckets(table, allocator);
    if (table->buckets != NULL && table->bytes <= table->max_bytes && entry->cost <= table->max_bytes - table->bytes &&
        *find_entry_place(table, entry->key) == NULL)
        insert_entry(table, entry, false);
    pthread_mutex_unlock(&table->lock);
}

size_t memo_table_list(struct memo_table *table, size_t max, struct memo_entry **entries)
{
    size_t listed = 0;
    pthread_mutex_lock(&table->lock);
    for (struct memo_entry *entry = table->newest; entry != NULL && listed < max; entry = entry->older) {
        atomic_fetch_add_explicit(&entry->references, 1, memory_order_relaxed);
        entries[listed++] = entry;
    }
    const size_t count = table->count;
    pthread_mutex_unlock(&table->lock);
    return count;
}

void memo_table_clear(struct memo_table *table)
{
    struct memo_entry *dead = NULL;
    pthread_mutex_lock(&table->lock);
    while (table->oldest != NULL)
        dead = take_out_entry(table, find_entry_place(table, table->oldest->key), dead);
    pthread_mutex_unlock(&table->lock);
    release_dead_entries(dead);
}
