/*
 * store_queue.h - queues programs whose blobs will be stored: at a flush, or at the end of the process.
 */
#ifndef INGOT_PERSIST_STORAGE_STORE_QUEUE_H
#define INGOT_PERSIST_STORAGE_STORE_QUEUE_H

#include <ingot/persist.h>
#include <stdbool.h>

void store_queue_init(ingot_storage_t storage);
/* Ends the storage's thread, and frees the queue's resources. The queue must have been flushed. */
void store_queue_fini(ingot_storage_t storage);

/* Queues a program that took build_ns to build, and whose blob the driver needs at least cost_ns to provide (0: next to
 * nothing). The caller must have called last_work_add. Does nothing if a program with this id waits already. If too
 * many programs wait, the one that was fastest to build is stored in this call, or dropped if its blob has a cost. */
void store_queue_add(ingot_storage_t storage, const struct ingot_context *context, ingot_program_t program,
                     size_t id_size, const uint8_t *id, uint64_t build_ns, uint64_t cost_ns);

/* Stores a program immediately. If that fails, the next flush returns the failure, too. */
ingot_status_t store_queue_store_now(ingot_storage_t storage, const struct ingot_context *context,
                                     ingot_program_t program, size_t id_size, const uint8_t *id);

/* Called when the last reference is released. If the calling thread is the storage's own, returns true, and that thread
 * finishes the storage after its current item. */
bool store_queue_orphan(ingot_storage_t storage);

/* Returns how many programs are pending, including those that are being stored. */
uint64_t store_queue_count(ingot_storage_t storage);

/* True if an item is being stored, or also if one is waiting. For the end of the process: do not wait for the queue's
 * lock, and return true if the lock is not available. */
bool store_queue_is_active(ingot_storage_t storage);
bool store_queue_is_pending(ingot_storage_t storage);

/* Gives up all unstored programs of one context: marks them as settled (see struct store_queue_item), and returns their
 * number. Sets *context to that context, which is then never freed. The next call finds another context. For the end of
 * the process: does not wait for the queue's lock, and returns 0 if the lock is not available. */
size_t store_queue_give_up(ingot_storage_t storage, const struct ingot_context **context);

/* Detaches the storage's thread if it has ended. A thread that ends later detaches itself. So the process leaves no
 * thread that has ended unjoined, and waits for none, because its end runs a driver's destructors of thread-local
 * objects, which may wait for a lock. For the end of the process, once process_end_began_ns returns its time: does not
 * wait for the queue's lock, and returns false if the lock is not available. */
bool store_queue_let_go(ingot_storage_t storage);

/* Remembers the programs that are still being stored, so that later processes do not begin them while they end. For the
 * end of the process: does not wait for the queue's lock. */
void store_queue_note_costs(ingot_storage_t storage);

/* ---- for store_flush.c ---- */

struct store_queue;
struct store_queue_item;

/* The following functions require the queue's lock. */

/* Counts all items, including those that are being stored. */
uint64_t store_queue_count_locked(const struct store_queue *queue);
/* True if there is an item whose blob the driver is expected to provide within limit_ns. */
bool store_queue_has(struct store_queue *queue, uint64_t limit_ns);
/* Of the items whose blobs the driver is expected to provide within limit_ns, removes and returns the one that took
 * longest to build. Returns NULL if there is none. */
struct store_queue_item *store_queue_pop(struct store_queue *queue, uint64_t limit_ns);
/* Stores an item that is not in a list, and frees it. Releases the lock while it does so. Returns false if the item
 * could not be freed because the process is ending. is_own_thread: the calling thread is the storage's own. */
bool store_queue_work(ingot_storage_t storage, struct store_queue_item *item, bool is_own_thread);
/* Makes the storage's thread store items until this time at least. Returns false if it cannot be started, or if the
 * storage has been released. */
bool store_queue_start_thread(ingot_storage_t storage, uint64_t until_ns);

/* The following functions need no lock. */

/* Returns the time left until a time, which may be THREAD_NO_TIME. */
uint64_t store_queue_time_left(uint64_t until_ns);
/* True if the calling thread is the storage's own. */
bool store_queue_is_own_thread(ingot_storage_t storage);
/* True if the calling thread is storing an item right now, so that a callback called this function. */
bool store_queue_is_working(void);
/* Returns how many items of the storage the calling thread is storing right now. There may be several, because a
 * callback may flush. */
uint64_t store_queue_count_own(ingot_storage_t storage);

#endif
