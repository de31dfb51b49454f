/*
 * upload_queue.h - queues blobs to be uploaded and ids to be removed, oldest first, within limits.
 *
 * A new item replaces an older one with the same key. If there is no room, the oldest items are dropped. One thread
 * takes items from the queue. Loads search the queue, too, including the item that this thread is working on. Lock: one
 * mutex, not held while an item is uploaded.
 */
#ifndef INGOT_REMOTE_UPLOAD_UPLOAD_QUEUE_H
#define INGOT_REMOTE_UPLOAD_UPLOAD_QUEUE_H

#include <ingot/ingot.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "remote/object/object_key.h"

/* An item of the queue. Its key, id and blob never change. */
struct upload {
    struct upload *next;    /* guarded by the queue's lock */
    uint64_t number;        /* items are numbered in the order in which they were added, from 1; guarded by the lock */
    unsigned attempt_count; /* used only by the thread that takes items */
    size_t id_size;
    size_t blob_size; /* 0: the item removes its id */
    const uint8_t *id;
    const uint8_t *blob;
    char key[OBJECT_KEY_CAPACITY]; /* of the id */
};

struct upload_queue {
    pthread_mutex_t lock;
    pthread_cond_t has_changed; /* wakes the thread, and callers that wait for uploads; steady clock */
    uint64_t max_bytes;         /* max_bytes and max_count are constant */
    size_t max_count;
    struct upload *first; /* `lock` guards all fields from here on */
    struct upload **last;
    struct upload *active; /* the item that the thread is working on, or NULL */
    size_t count;          /* count and bytes do not include the active item */
    uint64_t bytes;
    uint64_t last_number; /* of the newest item that was ever added; 0: none */
    bool is_closed;       /* accepts no more items */
};

void upload_queue_init(struct upload_queue *queue, uint64_t max_bytes, size_t max_count);
void upload_queue_fini(struct upload_queue *queue);

/* Adds a blob, or a removal if blob_size is 0. Sets *dropped_count to the number of items that were dropped to make
 * room. @retval INGOT_READ_ONLY (closed), INGOT_NO_SPACE, INGOT_OUT_OF_MEMORY */
ingot_status_t upload_queue_add(struct upload_queue *queue, const char *key, size_t id_size, const uint8_t *id,
                                size_t blob_size, const uint8_t *blob, size_t *dropped_count);
/* Returns false if the queue has no item of the key. Otherwise sets *size to the size of its blob, and *copy to a copy
 * that the caller frees: NULL for a removal, or if memory runs out. copy may be NULL. */
bool upload_queue_find(struct upload_queue *queue, const char *key, size_t *size, uint8_t **copy);
/* True if the queue has an item of the key. The caller holds the lock. */
bool upload_queue_has(const struct upload_queue *queue, const char *key);

/* Takes the first item, which becomes the active one. Called by the tier's thread. Returns NULL if there is none. */
struct upload *upload_queue_take(struct upload_queue *queue);
/* Ends the work on the active item. If is_tried_again, puts the item back at the front, unless there is a newer item
 * with the same key. */
void upload_queue_finish(struct upload_queue *queue, bool is_tried_again);

/* Returns true if an item is left whose number is at most `number`, including the active item. The caller holds the
 * lock. */
bool upload_queue_has_up_to(const struct upload_queue *queue, uint64_t number);
/* Waits for a change of the queue, until `moment_ns` at the latest. The caller holds the lock. */
void upload_queue_wait(struct upload_queue *queue, uint64_t moment_ns);
/* Wakes all waiting threads. */
void upload_queue_wake(struct upload_queue *queue);
/* Drops all pending items, accepts no more, and wakes all waiting threads. Returns how many items were dropped. */
size_t upload_queue_close(struct upload_queue *queue);
/* Returns how many items are pending, including the active one. */
size_t upload_queue_count(struct upload_queue *queue);

#endif
