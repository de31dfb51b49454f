/*
 * store_queue.h - queues programs whose blobs will be stored, and blobs that a chain promotes. They are stored in the
 * background, at a flush, or at the end of the process.
 */
#ifndef INGOT_PERSIST_STORAGE_STORE_QUEUE_H
#define INGOT_PERSIST_STORAGE_STORE_QUEUE_H

#include <ingot/persist.h>
#include <stdbool.h>

#include "persist/storage/common/costs.h"
#include "persist/storage/common/kinds.h"

ingot_status_t store_queue_init(ingot_storage_t storage);
/* Ends the storage's thread, which stores items in the background, and frees the queue's resources. The queue must have
 * been flushed. */
void store_queue_fini(ingot_storage_t storage);

/* Queues a program with what is known about the cost of its blob. The caller must have called last_work_add. If too
 * many programs wait, stores the oldest of them in this call, or with STORE_QUEUE_AT_END drops those that were fastest
 * to build. */
void store_queue_add(ingot_storage_t storage, const struct ingot_context *context, ingot_program_t program,
                     size_t id_size, const uint8_t *id, const struct store_cost *cost, enum store_queue_when when);

/* Stores a program immediately. If that fails, the next flush returns the failure, too. */
ingot_status_t store_queue_store_now(ingot_storage_t storage, const struct ingot_context *context,
                                     ingot_program_t program, size_t id_size, const uint8_t *id);

/* Queues a copy of a blob that a chain promotes to its first tier_count tiers. The bounds of store_queue_add apply.
 * Returns false if out of memory. */
bool store_queue_add_blob(ingot_storage_t chain, size_t tier_count, size_t id_size, const uint8_t *id,
                          const ingot_buffer_t *blob, enum store_queue_when when);

/* Called when the last reference is released. If the calling thread is the storage's own, returns true, and that thread
 * finishes the storage after its current item. */
bool store_queue_orphan(ingot_storage_t storage);

/* Drops the blobs that wait to be promoted under this id. If one is being promoted right now, it is removed from the
 * tiers afterwards. This function does not wait for that, because tiers and event callbacks run during the promotion,
 * and waiting for them could deadlock. */
void store_queue_cancel(ingot_storage_t chain, size_t id_size, const uint8_t *id);

/* Returns how many programs are pending, including those that are being stored, but not those that only remain to be
 * freed. */
uint64_t store_queue_count(ingot_storage_t storage);

/* True if an item is being stored. For the end of the process: does not wait for the queue's lock, and returns true if
 * the lock is not available. */
bool store_queue_is_active(ingot_storage_t storage);

/* Gives up either all unstored programs of one context or all blobs to promote: marks these items as settled (see
 * struct store_queue_item), and returns their number. Sets *context to that context, which is then never freed, or to
 * NULL for blobs. The next call finds another context. For the end of the process: does not wait for the queue's lock,
 * and returns 0 if the lock is not available. */
size_t store_queue_give_up(ingot_storage_t storage, const struct ingot_context **context);

/* Remembers the programs that are still being stored, so that later processes do not begin them while they end. For the
 * end of the process: does not wait for the queue's lock. */
void store_queue_note_costs(ingot_storage_t storage);

/* ---- for store_flush.c ---- */

struct store_queue;
struct store_queue_item;

void store_queue_lock(struct store_queue *queue);
/* Returns false if the lock is not available. */
bool store_queue_try_lock(struct store_queue *queue);
void store_queue_unlock(struct store_queue *queue);

/* The following functions require the lock. */

/* Counts all items, including those that are being stored. */
uint64_t store_queue_count_locked(const struct store_queue *queue);
/* True if some list has an item whose blob the driver is expected to provide within limit_ns. */
bool store_queue_has_any(struct store_queue *queue, uint64_t limit_ns);
/* Removes and returns an item whose blob the driver is expected to provide within limit_ns, or returns NULL. */
struct store_queue_item *store_queue_pop_any(struct store_queue *queue, uint64_t limit_ns);
/* Stores an item that is not in a list, and frees it. Releases the lock while it does so. Returns false if the item
 * could not be freed because the process is ending; it is then in a list again. is_own_thread: the calling thread is
 * the storage's own. */
bool store_queue_work(ingot_storage_t storage, struct store_queue_item *item, bool is_own_thread);
/* Starts the storage's thread, unless it runs already. Returns false if it cannot be started, or if the storage has
 * been released. */
bool store_queue_start_thread(ingot_storage_t storage);

/* True if the calling thread is storing an item right now, so that a callback called this function. */
bool store_queue_is_working(void);
/* Returns how many items of the storage the calling thread is storing right now. There may be several, because a
 * callback may flush. Needs no lock. */
uint64_t store_queue_count_own(ingot_storage_t storage);

#endif
