/*
 * memo_table.c - keeps entries in a hash table and in a list by their last use; see memo_table.h.
 */
#include "core/memo/memo_table.h"

#include <string.h>

#include "core/base/digest.h"

void memo_table_init(struct memo_table *table, size_t max_bytes)
{
    memset(table, 0, sizeof(*table));
    table->max_bytes = max_bytes;
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

static void link_as_newest(struct memo_table *table, struct memo_entry *entry)
{
    entry->newer = NULL;
    entry->older = table->newest;
    *(entry->older != NULL ? &entry->older->newer : &table->oldest) = entry;
    table->newest = entry;
}

/* Takes the entry at `place` out of the table, and prepends it to the list `dead`, which is released later. */
static struct memo_entry *take_out_entry(struct memo_table *table, struct memo_entry **place, struct memo_entry *dead)
{
    struct memo_entry *entry = *place;
    *place = entry->next;
    unlink_by_age(table, entry);
    table->bytes -= entry->cost;
    entry->next = dead;
    return entry;
}

struct memo_entry *memo_table_find(struct memo_table *table, const uint8_t key[MEMO_KEY_SIZE])
{
    pthread_mutex_lock(&table->lock);
    struct memo_entry *entry = *find_entry_place(table, key);
    if (entry != NULL) {
        atomic_fetch_add_explicit(&entry->references, 1, memory_order_relaxed);
        unlink_by_age(table, entry);
        link_as_newest(table, entry);
    }
    pthread_mutex_unlock(&table->lock);
    return entry;
}

void memo_table_put(struct memo_table *table, struct memo_entry *entry)
{
    struct memo_entry *dead = NULL;
    pthread_mutex_lock(&table->lock);
    if (entry->cost <= table->max_bytes) {
        struct memo_entry **place = find_entry_place(table, entry->key);
        if (*place != NULL)
            dead = take_out_entry(table, place, dead);
        while (table->bytes > table->max_bytes - entry->cost)
            dead = take_out_entry(table, find_entry_place(table, table->oldest->key), dead);
        place = find_entry_place(table, entry->key); /* the end of its bucket */
        atomic_fetch_add_explicit(&entry->references, 1, memory_order_relaxed);
        entry->next = NULL;
        *place = entry;
        link_as_newest(table, entry);
        table->bytes += entry->cost;
    }
    pthread_mutex_unlock(&table->lock);
    release_dead_entries(dead);
}

void memo_table_fini(struct memo_table *table)
{
    struct memo_entry *dead = NULL;
    while (table->oldest != NULL)
        dead = take_out_entry(table, find_entry_place(table, table->oldest->key), dead);
    release_dead_entries(dead);
    pthread_mutex_destroy(&table->lock);
}
