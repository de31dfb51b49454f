/*
 * memo_table.h - what was learned, by key, within a limit of bytes; the longest unused goes first.
 *
 * Entries are counted: one that a thread uses stays when the table drops it. Any thread may call any function. The lock
 * is held for a few steps in memory; nothing is allocated, freed or asked of the system under it.
 */
#ifndef INGOT_CORE_MEMO_MEMO_TABLE_H
#define INGOT_CORE_MEMO_MEMO_TABLE_H

#include <stdatomic.h>

#include "core/base/alloc.h"
#include "core/base/os.h"

enum { MEMO_KEY_SIZE = 56, MEMO_BUCKETS = 1024 };

/* The first member of what is remembered. */
struct memo_entry {
    struct memo_entry *next; /* in its bucket; this and the next two under the table's lock */
    struct memo_entry *newer;
    struct memo_entry *older;
    atomic_uint references;
    size_t cost; /* in bytes */
    uint8_t key[MEMO_KEY_SIZE];
    void (*destroy)(struct memo_entry *entry);
};

struct memo_table {
    os_mutex lock;
    struct memo_entry **buckets; /* under lock, as all below; NULL: nothing was added yet */
    struct memo_entry *newest;
    struct memo_entry *oldest;
    size_t count;
    size_t bytes;
    size_t max_bytes;
};

ingot_status_t memo_table_init(struct memo_table *table, size_t max_bytes);
void memo_table_fini(struct memo_table *table, const ingot_allocator_t *allocator);
/* Returns a reference, or NULL. */
struct memo_entry *memo_table_find(struct memo_table *table, const uint8_t key[MEMO_KEY_SIZE]);
/* Adds a reference to the entry, in place of one with the same key; does nothing if there is no memory. */
void memo_table_put(struct memo_table *table, const ingot_allocator_t *allocator, struct memo_entry *entry);
/* Does the same as the one that goes first, and only if there is room and no entry with that key. */
void memo_table_put_last(struct memo_table *table, const ingot_allocator_t *allocator, struct memo_entry *entry);
/* Lists at most max entries, the newest first, each with a reference; returns how many the table has. */
size_t memo_table_list(struct memo_table *table, size_t max, struct memo_entry **entries);
/* Drops all entries. */
void memo_table_clear(struct memo_table *table);
void memo_entry_release(struct memo_entry *entry);

#endif
