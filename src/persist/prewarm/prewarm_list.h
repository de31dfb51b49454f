/*
 * prewarm_list.h - keeps the list of a storage's prewarms, and the lock that guards them and their items.
 *
 * A prewarm loads the programs of a manifest before they are requested. Each of these programs is an item.
 */
#ifndef INGOT_PERSIST_PREWARM_PREWARM_LIST_H
#define INGOT_PERSIST_PREWARM_PREWARM_LIST_H

#include <ingot/prewarm.h>
#include <stdbool.h>

#include "persist/base/process_lock.h"
#include "persist/prewarm/id_list.h"
#include "persist/prewarm/manifest.h"

enum prewarm_item_state {
    PREWARM_WAITING = 0,
    PREWARM_LOADING,
    PREWARM_READY,
    PREWARM_GONE /* taken, failed, or requested before its turn */
};

/* The result of one item. */
enum prewarm_outcome { PREWARM_LOADED, PREWARM_STALE, PREWARM_MISSING, PREWARM_FAILED, PREWARM_TOO_LARGE };

/* The state of an item's blob, which may be loaded in a group before the item's turn; see prewarm_fetch.h. */
enum prewarm_fetch_state {
    PREWARM_NOT_ASKED = 0,
    PREWARM_ASKED,   /* a thread is loading the blob, together with other blobs */
    PREWARM_FETCHED, /* the blob is loaded, or its load has failed */
    PREWARM_ALONE    /* the blob will be loaded alone, in the item's turn */
};

/* An item's blob, and the status of its load. */
struct prewarm_blob {
    ingot_program_desc_t desc; /* NULL: the blob was not loaded before the item's turn */
    ingot_status_t status;
    ingot_buffer_t bytes;
};

struct prewarm_thread;

struct prewarm_item {
    enum prewarm_item_state state;
    enum prewarm_fetch_state fetch;
    const struct prewarm_thread *fetcher; /* valid in PREWARM_ASKED */
    struct prewarm_blob blob;
    ingot_work_t work;       /* reports waits for this item to the core; in use while the item is loading */
    ingot_program_t program; /* set in PREWARM_READY */
};

struct prewarm_thread {
    struct ingot_prewarm *prewarm;
    pthread_t thread;
    bool runs;
    ingot_work_t work; /* reports waits for this thread to the core; in use while the thread runs */
};

/* A prewarm. The list's lock guards all fields that change after the first thread has started. */
struct ingot_prewarm {
    struct ingot_prewarm *next;
    ingot_allocator_t allocator;
    ingot_storage_t storage; /* a reference, as is `context` */
    struct prewarm_list *list;
    ingot_context_t context;
    ingot_prewarm_info_t info;
    long process; /* ID of the process that started it; the prewarm is useless in a forked child */
    uint64_t start_ns;
    struct manifest manifest;
    struct prewarm_item *items; /* one per id of the manifest */
    size_t next_item;
    bool fetches_ahead;   /* true: the storage can load several blobs at once; constant */
    size_t fetched_bytes; /* total size of the blobs that items hold */
    ingot_prewarm_progress_t progress;
    bool is_ending;       /* true: no further load begins */
    size_t active_count;  /* number of running threads */
    size_t waiting_count; /* number of threads that wait for an item, or for the end */
    size_t thread_count;
    bool is_being_joined;
    bool is_joined;
    struct prewarm_thread threads[];
};

/* The prewarms of a storage. */
struct prewarm_list {
    ingot_allocator_t allocator;
    struct process_lock lock;
    pthread_cond_t loaded;       /* signaled when an item is no longer loading */
    pthread_cond_t changed;      /* signaled when a thread has ended, or when no thread waits any longer */
    struct ingot_prewarm *first; /* guarded by `lock` */
    /* number of prewarms; if it is 0, no need to lock; relaxed: an outdated 0 only makes a caller miss a new prewarm */
    atomic_size_t count;
};

/* Returns a storage's list, or NULL before its first prewarm. */
struct prewarm_list *prewarm_list_of(ingot_storage_t storage);
/* Creates the list if there is none. */
ingot_status_t prewarm_list_make(ingot_storage_t storage, struct prewarm_list **list);

void prewarm_list_lock(struct prewarm_list *list);
void prewarm_list_unlock(struct prewarm_list *list);
/* Adds or removes a prewarm. Requires the lock. */
void prewarm_list_add(struct prewarm_list *list, struct ingot_prewarm *prewarm);
void prewarm_list_remove(struct prewarm_list *list, const struct ingot_prewarm *prewarm);

#endif
