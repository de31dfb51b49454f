/*
 * store_queue.h - queues programs whose blobs will be stored, and blobs that a chain promotes. They are stored in the
 * background, at a flush, or at the end of the process.
 */
#ifndef INGOT_PERSIST_STORAGE_STORE_QUEUE_H
#define INGOT_PERSIST_STORAGE_STORE_QUEUE_H

#include <ingot/persist.h>
#include <stdbool.h>

#include "persist/storage/common/kinds.h"

ingot_status_t store_queue_init(ingot_storage_t storage);
/* Ends the thread and frees its resources. The queue must have been flushed. */
void store_queue_fini(ingot_storage_t storage);

/* Queues a program with its build time. The caller must have called last_work_add. If too many programs wait, stores
 * the oldest of them in this call. If they wait for a quiet time, drops those that were fastest to build instead. */
void store_queue_add(ingot_storage_t storage, const struct ingot_context *context, ingot_program_t program,
                     size_t id_size, const uint8_t *id, uint64_t build_ns, enum store_queue_when when);

/* Stores a program at once. If that fails, the next flush returns the failure, too. */
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

/* Wakes the thread, because the storage's times have changed. */
void store_queue_wake(ingot_storage_t storage);

/* Must be called before and after a program is loaded or built. The storage is not quiet in between, nor for a while
 * afterwards. */
void store_queue_note_making(ingot_storage_t storage);
void store_queue_note_made(ingot_storage_t storage);

/* Stores all waiting items, and waits for those that are being stored, within info's limits. Returns INGOT_BUSY if some
 * still wait, otherwise the first failure since the last flush. progress may be NULL. */
ingot_status_t store_queue_flush(ingot_storage_t storage, const ingot_persist_flush_info_t *info,
                                 ingot_persist_flush_progress_t *progress);

/* Returns how many programs wait, including those that are being stored. */
uint64_t store_queue_count(ingot_storage_t storage);

/* ---- for last_work.c, at the end of the process; these functions do not wait for the queue's lock ---- */

/* True if the calling thread is storing an item right now, so it must not wait for the queue. */
bool store_queue_is_worked_here(void);
/* Makes the storage's thread work on all lists until this time. */
void store_queue_hurry(ingot_storage_t storage, uint64_t until_ns);
/* True if the time of store_queue_hurry has not passed, and an item is being stored or can probably be stored in that
 * time. Also true if the lock is not available. */
bool store_queue_is_hurrying(ingot_storage_t storage);
/* Marks all unstored programs of one context as given up, or all blobs to promote, and returns their number. Sets
 * *context to that context, which is never freed, or to NULL for blobs. The next call finds another context. */
size_t store_queue_give_up(ingot_storage_t storage, const struct ingot_context **context);

#endif
