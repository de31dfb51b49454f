/*
 * store_queue.h - programs whose blobs are to be taken and stored later: in the background, or at a flush.
 */
#ifndef INGOT_PERSIST_STORE_QUEUE_H
#define INGOT_PERSIST_STORE_QUEUE_H

#include <ingot/persist.h>
#include <pthread.h>
#include <stdbool.h>

#include "persist/process_lock.h"

struct store_queue_item;

struct store_queue_list {
    struct store_queue_item *first; /* oldest */
    struct store_queue_item *last;
    size_t count;
    size_t bytes; /* of ids, which hold the sources' digests and the options */
};

/* When an item is to be worked. */
enum store_queue_when { STORE_QUEUE_SOON = 0, STORE_QUEUE_AT_FLUSH = 1 };

struct store_queue {
    struct process_lock lock;
    pthread_cond_t has_work; /* for the thread */
    pthread_cond_t is_done;  /* for who flushes */
    struct store_queue_list lists[2];    /* under lock, by store_queue_when */
    size_t active_count;                 /* under lock: items that a thread is at */
    ingot_status_t failure;              /* under lock: the first one that no flush has told yet */
    bool has_thread;                     /* under lock */
    bool is_ending;                      /* under lock */
    pthread_t thread;                    /* where has_thread */
    struct store_queue_list inherited[2]; /* a forked child's: what its parent's queue held, never touched */
};

ingot_status_t store_queue_init(struct store_queue *queue);
/* Works what waits, ends the thread, and frees what it used. */
void store_queue_fini(ingot_storage_t storage);

/* Remembers a program, and works the oldest ones right here where there are too many. */
void store_queue_add(ingot_storage_t storage, const struct ingot_context *context, ingot_program_t program,
                     size_t id_size, const uint8_t *id, enum store_queue_when when);

/* Works all that waits and waits for what is being worked. The first failure since the last flush. */
ingot_status_t store_queue_flush(ingot_storage_t storage);

#endif
