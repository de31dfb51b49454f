/*
 * memo_table.h - keeps results by key, up to a limit in bytes; drops the least recently used ones first.
 *
 * Entries are reference-counted, so an entry that a thread uses stays valid when the table drops it. Any thread may
 * call any function. The lock is held only for a few memory accesses; nothing is allocated or freed under it, and no
 * system call is made.
 */
#ifndef INGOT_CORE_MEMO_MEMO_TABLE_H
#define INGOT_CORE_MEMO_MEMO_TABLE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "util/memory.h"

enum { MEMO_KEY_SIZE = 56, MEMO_BUCKETS = 1024 };

/* The header of an entry. It is the first member of the structure that is remembered. */
struct memo_entry {
    struct memo_entry *next; /* next in the bucket; guarded by the table's lock, like the next two fields */
    struct memo_entry *newer;
    struct memo_entry *older;
    atomic_uint references;
    size_t cost; /* how many bytes the entry counts for */
    uint8_t key[MEMO_KEY_SIZE];
    void (*destroy)(struct memo_entry *entry);
};

struct memo_table {
    pthread_mutex_t lock;
    struct memo_entry **buckets; /* guarded by lock, like all fields below; NULL until an entry is added */
    struct memo_entry *newest;
    struct memo_entry *oldest;
    size_t count;
    size_t bytes;
    size_t max_bytes;
};

void memo_table_init(struct memo_table *table, size_t max_bytes);
void memo_table_fini(struct memo_table *table, const ingot_allocator_t *allocator);
/* Finds an entry. Returns a reference, or NULL. */
struct memo_entry *memo_table_find(struct memo_table *table, const uint8_t key[MEMO_KEY_SIZE]);
/* Adds an entry, with a new reference, and drops the entry that has its key, if any. Does nothing if out of memory
 * or if the entry alone exceeds the limit. */
void memo_table_put(struct memo_table *table, const ingot_allocator_t *allocator, struct memo_entry *entry);
/* Adds an entry as the least recently used one, but only if there is room for it and its key is not in the table. */
void memo_table_put_last(struct memo_table *table, const ingot_allocator_t *allocator, struct memo_entry *entry);
/* Lists at most `max` entries, the most recently used first, each with a new reference. Returns how many entries the
 * table has. */
size_t memo_table_list(struct memo_table *table, size_t max, struct memo_entry **entries);
/* Drops all entries. */
void memo_table_clear(struct memo_table *table);
void memo_entry_release(struct memo_entry *entry);

#endif
