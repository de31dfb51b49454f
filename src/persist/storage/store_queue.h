/*
 * store_queue.h - programs whose blobs are to be taken and stored later, and blobs that a chain promotes: in the
 * background, at a flush, or at the end of the process.
 */
#ifndef INGOT_PERSIST_STORAGE_STORE_QUEUE_H
#define INGOT_PERSIST_STORAGE_STORE_QUEUE_H

#include <ingot/persist.h>
#include <pthread.h>
#include <stdbool.h>

#include "persist/base/process_lock.h"
#include "persist/storage/store_list.h"

/* When an item is to be worked. */
enum store_queue_when {
    STORE_QUEUE_SOON = 0,       /* by the storage's thread */
    STORE_QUEUE_WHEN_QUIET = 1, /* by it, too, once nobody asked for a program for a while */
    STORE_QUEUE_AT_FLUSH = 2,
    STORE_QUEUE_LISTS = 3
};

struct store_queue {
    struct process_lock lock;
    pthread_cond_t has_work;                          /* for the thread */
    pthread_cond_t is_done;                           /* for callers that flush */
    struct store_queue_list lists[STORE_QUEUE_LISTS]; /* under lock, as all below, by store_queue_when */
    struct store_queue_list active;                   /* items that a thread is at */
    size_t active_count;                              /* of these, and of those that are being freed */
    size_t making_count;                              /* programs that are being loaded or built */
    uint64_t last_made_ns;                            /* when the last one was */
    uint64_t urgent_until_ns;                         /* until then the thread works all lists */
    uint64_t taken_ns; /* how long it took to take all blobs so far, and to build their programs */
    uint64_t built_ns;
    ingot_persist_flush_progress_t total; /* since the storage was made */
    ingot_status_t failure;               /* the first one that no flush has told yet */
    bool has_thread;
    bool is_ending;
    pthread_t thread;                                     /* where has_thread */
    struct store_queue_list inherited[STORE_QUEUE_LISTS]; /* a forked child's: its parent's, never touched */
    ingot_storage_t next;                                 /* of last_work.c */
};

ingot_status_t store_queue_init(struct store_queue *queue);
/* Works what waits, ends the thread, and frees what it used. */
void store_queue_fini(ingot_storage_t storage);

/* Remembers a program that took so long to build. Where too many wait, the oldest are worked right here, or, of those
 * that wait for a quiet moment, the cheapest to build is dropped. */
void store_queue_add(ingot_storage_t storage, const struct ingot_context *context, ingot_program_t program,
                     size_t id_size, const uint8_t *id, uint64_t build_ns, enum store_queue_when when);

/* Remembers a copy of a blob that a chain is to promote to its first tiers. What waits is bounded as above.
 * Returns false if there is no memory. */
bool store_queue_add_blob(ingot_storage_t chain, size_t tier_count, size_t id_size, const uint8_t *id,
                          const ingot_buffer_t *blob, enum store_queue_when when);

/* Forgets the blobs that are to be promoted under this id, and waits for one that is being promoted: what comes next
 * takes its place. */
void store_queue_cancel(ingot_storage_t chain, size_t id_size, const uint8_t *id);

/* Keeps the failure of a program that was stored at once for the next flush to return. */
void store_queue_note_failure(ingot_storage_t storage, ingot_status_t status);

/* The storage's times have changed. */
void store_queue_wake(ingot_storage_t storage);

/* Call these before and after a program is made: it is not quiet then. */
void store_queue_note_making(ingot_storage_t storage);
void store_queue_note_made(ingot_storage_t storage);

/* Works all that waits and waits for what is being worked, within info's limits. INGOT_BUSY: something waits still;
 * else the first failure since the last flush. progress may be NULL. */
ingot_status_t store_queue_flush(ingot_storage_t storage, const ingot_persist_flush_info_t *info,
                                 ingot_persist_flush_progress_t *progress);

/* How many wait, those that are being worked included. */
uint64_t store_queue_count(ingot_storage_t storage);

/* ---- for the end of the process, in last_work.c; none waits for the queue's lock ---- */

/* True if this thread is storing something right now: it cannot wait for itself. */
bool store_queue_is_worked_here(void);
/* Has the thread work everything until then. */
void store_queue_hurry(ingot_storage_t storage, uint64_t until_ns);
/* True if something is being worked, or waits that is expected to be done in time. */
bool store_queue_is_hurrying(ingot_storage_t storage);
/* Takes note of all programs of one context that still wait, or of all blobs, with a NULL context. 0: none. The context
 * stays alive for good. */
size_t store_queue_give_up(ingot_storage_t storage, const struct ingot_context **context);

#endif
