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

enum { MEMO_KEY_SIZE = 56, MEMO_BUCKETS = 512 };

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
    struct memo_entry *buckets[MEMO_BUCKETS]; /* guarded by lock, like all fields below */
    struct memo_entry *newest;
    struct memo_entry *oldest;
    size_t bytes;
    size_t max_bytes;
};

void memo_table_init(struct memo_table *table, size_t max_bytes);
void memo_table_fini(struct memo_table *table);
/* Finds an entry. Returns a reference, or NULL. */
struct memo_entry *memo_table_find(struct memo_table *table, const uint8_t key[MEMO_KEY_SIZE]);
/* Adds an entry, with a new reference, and drops the entry that has its key, if any. Does nothing if the entry alone
 * exceeds the limit. */
void memo_table_put(struct memo_table *table, struct memo_entry *entry);
void memo_entry_release(struct memo_entry *entry);

#endif
