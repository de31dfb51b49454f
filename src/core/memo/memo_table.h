/*
 * memo_table.h - a table of results by key, with a limit in bytes; drops the least recently used entry first.
 *
 * Entries are reference-counted: an entry that a thread uses stays valid when the table drops it. Any thread may call
 * any function. The lock is held only for a few memory accesses; nothing is allocated or freed, and no system call is
 * made, under it.
 */
#ifndef INGOT_CORE_MEMO_MEMO_TABLE_H
#define INGOT_CORE_MEMO_MEMO_TABLE_H

#include <stdatomic.h>

#include "core/base/alloc.h"
#include "core/base/os.h"

enum { MEMO_KEY_SIZE = 56, MEMO_BUCKETS = 1024 };

/* An entry's header; it is the first member of whatever is remembered. */
struct memo_entry {
    struct memo_entry *next; /* next in its bucket; the table's lock guards this and the next two fields */
    struct memo_entry *newer;
    struct memo_entry *older;
    atomic_uint references;
    size_t cost; /* in bytes */
    uint8_t key[MEMO_KEY_SIZE];
    void (*destroy)(struct memo_entry *entry);
};

struct memo_table {
    os_mutex lock;
    struct memo_entry **buckets; /* guarded by lock, like all fields below; NULL: nothing was added yet */
    struct memo_entry *newest;
    struct memo_entry *oldest;
    size_t count;
    size_t bytes;
    size_t max_bytes;
};

ingot_status_t memo_table_init(struct memo_table *table, size_t max_bytes);
void memo_table_fini(struct memo_table *table, const ingot_allocator_t *allocator);
/* Finds an entry. Returns a reference, or NULL. */
struct memo_entry *memo_table_find(struct memo_table *table, const uint8_t key[MEMO_KEY_SIZE]);
/* Adds a reference to the entry, which replaces one with the same key. Does nothing if out of memory. */
void memo_table_put(struct memo_table *table, const ingot_allocator_t *allocator, struct memo_entry *entry);
/* Adds the entry as the least recently used one, but only if there is room and no entry with its key. */
void memo_table_put_last(struct memo_table *table, const ingot_allocator_t *allocator, struct memo_entry *entry);
/* Lists at most max entries, the most recently used first, each with a reference. Returns how many the table has. */
size_t memo_table_list(struct memo_table *table, size_t max, struct memo_entry **entries);
/* Drops all entries. */
void memo_table_clear(struct memo_table *table);
void memo_entry_release(struct memo_entry *entry);

#endif
