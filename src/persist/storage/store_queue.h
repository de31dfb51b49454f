/*
 * store_queue.h - defers the storing of programs' blobs, and of blobs that a chain promotes: they are stored in the
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

/* Queues a program with its build time; last_work_add must be called before. If too many programs wait, the oldest are
 * stored in this call; among those that wait for a quiet time, the cheapest to build is dropped instead. */
void store_queue_add(ingot_storage_t storage, const struct ingot_context *context, ingot_program_t program,
                     size_t id_size, const uint8_t *id, uint64_t build_ns, enum store_queue_when when);

/* Stores a program at once. The next flush returns a failure, too. */
ingot_status_t store_queue_store_now(ingot_storage_t storage, const struct ingot_context *context,
                                     ingot_program_t program, size_t id_size, const uint8_t *id);

/* Queues a copy of a blob that a chain promotes to its first tiers, with the same bounds. Returns false if out of
 * memory. */
bool store_queue_add_blob(ingot_storage_t chain, size_t tier_count, size_t id_size, const uint8_t *id,
                          const ingot_buffer_t *blob, enum store_queue_when when);

/* If the calling thread is the storage's own, marks the storage to be finished when the thread is done with its item,
 * and returns true. */
bool store_queue_orphan(ingot_storage_t storage);

/* Forgets the blobs that are to be promoted under this id. A blob that is being promoted is removed afterwards. Waiting
 * for it could deadlock, because tiers and event callbacks run during the promotion. */
void store_queue_cancel(ingot_storage_t chain, size_t id_size, const uint8_t *id);

/* Wakes the thread, because the storage's times have changed. */
void store_queue_wake(ingot_storage_t storage);

/* Called before and after a program is loaded or built: the storage is not quiet in between, nor for a while
 * afterwards. */
void store_queue_note_making(ingot_storage_t storage);
void store_queue_note_made(ingot_storage_t storage);

/* Stores all waiting items, and waits for those that are being stored, within info's limits. Returns INGOT_BUSY if some
 * still wait, otherwise the first failure since the last flush. progress may be NULL. */
ingot_status_t store_queue_flush(ingot_storage_t storage, const ingot_persist_flush_info_t *info,
                                 ingot_persist_flush_progress_t *progress);

/* Returns how many programs wait, including those that are being stored. */
uint64_t store_queue_count(ingot_storage_t storage);

/* ---- for the end of the process, in last_work.c; none waits for the queue's lock ---- */

/* True if this thread is storing an item right now, so it must not wait for itself. */
bool store_queue_is_worked_here(void);
/* Makes the thread work on everything until this time. */
void store_queue_hurry(ingot_storage_t storage, uint64_t until_ns);
/* True if an item is being stored, or an item waits that should be done in time. */
bool store_queue_is_hurrying(ingot_storage_t storage);
/* Gives up all waiting programs of one context, or with a NULL context all blobs, and returns their number. The context
 * is never freed. */
size_t store_queue_give_up(ingot_storage_t storage, const struct ingot_context **context);

#endif
