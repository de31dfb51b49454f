/*
 * ahead.h - keeps the blobs that a storage's prewarms read ahead, and gives each to the first load that requests it.
 *
 * An item is an id of a prewarm's manifest. A load takes the blob of an item that is ready, and waits for a blob that
 * is being read. An item that is requested before its turn, stored or removed is gone: the prewarm does not read it, or
 * drops its blob.
 */
#ifndef INGOT_PERSIST_PREWARM_AHEAD_H
#define INGOT_PERSIST_PREWARM_AHEAD_H

#include <ingot/prewarm.h>
#include <stdbool.h>

#include "persist/base/process_lock.h"
#include "persist/prewarm/manifest.h"
#include "persist/storage/common/storage_ahead.h"

enum ahead_state { AHEAD_WAITING = 0, AHEAD_ASKED, AHEAD_READY, AHEAD_GONE };

struct ahead_item {
    enum ahead_state state;
    ingot_buffer_t blob; /* set in AHEAD_READY */
};

/* A prewarm. The list's lock guards all fields that change after its thread has started. */
struct ingot_prewarm {
    struct ingot_prewarm *next;
    ingot_allocator_t allocator;
    ingot_storage_t storage; /* a reference */
    struct ahead *ahead;
    unsigned long process; /* ID of the process that started it; the prewarm is useless in a forked child */
    uint64_t start_ns;
    uint64_t max_bytes;
    struct manifest manifest;
    struct ahead_item *items; /* one per entry of the manifest */
    size_t next_item;         /* used only by the prewarm's thread */
    ingot_prewarm_progress_t progress;
    bool is_ending;  /* true: no further blob is read */
    bool is_running; /* true: its thread has not ended yet */
    pthread_t thread;
};

/* The prewarms of a storage. */
struct ahead {
    struct storage_ahead base; /* first: the storage calls its functions */
    ingot_allocator_t allocator;
    struct process_lock lock;
    pthread_cond_t changed;      /* signaled when an item changes, or a thread ends */
    struct ingot_prewarm *first; /* guarded by `lock` */
    /* number of prewarms; if it is 0, no need to lock; relaxed: an outdated 0 only makes a load miss a new prewarm */
    atomic_size_t count;
};

/* Returns the storage's prewarms in *ahead. Creates the list if there is none. */
ingot_status_t ahead_make(ingot_storage_t storage, struct ahead **ahead);
void ahead_lock(struct ahead *ahead);
void ahead_unlock(struct ahead *ahead);
/* Adds or removes a prewarm. Requires the lock. */
void ahead_add(struct ahead *ahead, struct ingot_prewarm *prewarm);
void ahead_remove(struct ahead *ahead, const struct ingot_prewarm *prewarm);

#endif
