/*
 * last_work.c - makes storages store their pending items when the process ends, saves their counts (savings.h), and
 * reports programs that were not stored.
 *
 * exit() runs in a thread that may hold any of the application's locks. For this reason, that thread stores nothing and
 * runs no callback. The storages' own threads store the items, and one more thread emits the events. exit() waits for
 * the storages only as long as they may delay the end of the process, and for the events at most one second. It never
 * waits for a lock, but tries to take it for up to a second. The lock of the list is held while counts are saved, so
 * that no store is destroyed meanwhile.
 *
 * The lock of the list of storages is held briefly. While it is held, this file calls only functions that do not wait
 * for a queue's lock.
 */
#include "persist/storage/last_work.h"

#include <ingot/backend.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

#include "persist/base/files.h"
#include "persist/storage/common/events.h"
#include "persist/storage/common/process_end.h"
#include "persist/storage/common/savings.h"
#include "persist/storage/common/state.h"
#include "persist/storage/store_flush.h"
#include "persist/storage/store_queue.h"
#include "persist/storage/storing.h"
#include "util/nanoseconds.h"
#include "util/thread.h"

#define PAUSE_NS 500000u
#define MAX_LOCK_WAIT_NS NS_PER_SECOND
#define MAX_TELLING_NS NS_PER_SECOND
#define MAX_STORE_WAIT_NS (NS_PER_SECOND / 5)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ingot_storage_t first; /* the list of storages; guarded by `lock` */
/* true once all events are emitted; release pairs with acquire, so exit() sees what the emitting thread did */
static atomic_bool is_told;

void last_work_begin_child(void)
{
    pthread_mutex_init(&lock, NULL);
    first = NULL;
}

static bool try_lock(uint64_t began_ns)
{
    while (pthread_mutex_trylock(&lock) != 0) {
        if (files_steady_clock_ns() - began_ns > MAX_LOCK_WAIT_NS)
            return false;
        files_pause_ns(PAUSE_NS);
    }
    return true;
}

static ingot_storage_t *find_storage_link(ingot_storage_t storage)
{
    ingot_storage_t *at = &first;
    while (*at != NULL && *at != storage)
        at = &(*at)->queue.next;
    return at;
}

/* True if is_so returns true for a storage in the list. Returns false if the lock is not available. */
static bool is_any(bool (*is_so)(ingot_storage_t storage))
{
    bool is = false;
    if (!try_lock(files_steady_clock_ns()))
        return false;
    for (ingot_storage_t storage = first; storage != NULL && !is; storage = storage->queue.next)
        is = is_so(storage);
    pthread_mutex_unlock(&lock);
    return is;
}

/* Makes each storage's thread store pending items, for as long as the storage may delay the end of the process. Returns
 * true if one of them is not done, or its lock was not available. Raises *longest_ns to the longest such time. */
static bool hurry_all(uint64_t now_ns, uint64_t *longest_ns)
{
    bool is_hurrying = false;
    if (!try_lock(files_steady_clock_ns()))
        return false;
    for (ingot_storage_t storage = first; storage != NULL; storage = storage->queue.next) {
        const uint64_t time_ns = storage_exit_time_ns(storage);
        *longest_ns = time_ns > *longest_ns ? time_ns : *longest_ns;
        if (time_ns != 0)
            is_hurrying = store_flush_hurry(storage, now_ns + time_ns) || is_hurrying;
    }
    pthread_mutex_unlock(&lock);
    return is_hurrying;
}

/* Makes all storages store their pending items, and waits for their threads. Returns the longest time by which a
 * storage may delay the end. */
static uint64_t do_all(uint64_t now_ns)
{
    uint64_t longest_ns = 0;
    if (store_queue_is_working())
        return 0;
    while (hurry_all(now_ns, &longest_ns) && files_steady_clock_ns() - now_ns < longest_ns)
        files_pause_ns(PAUSE_NS);
    return longest_ns;
}

/* Calls a function for each storage in the list, with the lock. */
static void for_each_storage(void (*visit)(ingot_storage_t storage))
{
    if (!try_lock(files_steady_clock_ns()))
        return;
    for (ingot_storage_t storage = first; storage != NULL; storage = storage->queue.next)
        visit(storage);
    pthread_mutex_unlock(&lock);
}

/* Adds a reference, unless the last one has been released. */
static bool retain_if_alive(ingot_storage_t storage)
{
    size_t count = atomic_load_explicit(&storage->references, memory_order_relaxed);
    while (count != 0 && !atomic_compare_exchange_weak_explicit(&storage->references, &count, count + 1,
                                                                memory_order_relaxed, memory_order_relaxed)) {
    }
    return count != 0;
}

/* Finds a storage with programs of one context that were not stored. Returns their number, or 0 if there is no such
 * storage. Adds a reference to the storage that is never released. */
static size_t find_loss(ingot_storage_t *storage, const struct ingot_context **context)
{
    size_t count = 0;
    if (!try_lock(files_steady_clock_ns()))
        return 0;
    for (ingot_storage_t each = first; each != NULL && count == 0; each = each->queue.next) {
        count = store_queue_give_up(each, context); /* the storage is not freed while it is in the list */
        /* If another thread released the last reference, no event can report on this storage anymore. What
         * store_queue_give_up retained is leaked, as for any loss, because releasing a program may call the driver. */
        if (count != 0 && !retain_if_alive(each))
            count = 0;
        *storage = each;
    }
    pthread_mutex_unlock(&lock);
    return count;
}

static void *tell_lost_programs(void *user)
{
    ingot_storage_t storage = NULL;
    const struct ingot_context *context = NULL;
    const uint64_t began_ns = files_steady_clock_ns();
    size_t count;
    (void)user;
    /* waits for a moment, because a blob that the driver has just provided may be about to be stored */
    while (is_any(store_queue_is_active) && files_steady_clock_ns() - began_ns < MAX_STORE_WAIT_NS)
        files_pause_ns(PAUSE_NS);
    for_each_storage(store_queue_note_costs); /* the drivers have not provided these blobs in all the time of the end */
    while ((count = find_loss(&storage, &context)) != 0) {
        char reason[160];
        const uint64_t now_ns = files_steady_clock_ns();
        (void)snprintf(reason, sizeof(reason),
                       "%zu programs were not stored before the process ended (limit: %llu ms); processes compile them "
                       "until they are stored",
                       count, (unsigned long long)(storage_exit_time_ns(storage) / NS_PER_MS));
        storage_tell(storage, INGOT_EVENT_STORAGE_DEGRADED, INGOT_BUSY, 0, now_ns, reason);
        events_tell_context(context, INGOT_EVENT_STORAGE_DEGRADED, INGOT_BUSY, 0, now_ns, reason);
    }
    atomic_store_explicit(&is_told, true, memory_order_release);
    return NULL;
}

static bool keeps_thread(ingot_storage_t storage)
{
    return !store_queue_let_go(storage);
}

static void let_go_of_threads(void)
{
    const uint64_t began_ns = files_steady_clock_ns();
    while (is_any(keeps_thread) && files_steady_clock_ns() - began_ns < MAX_LOCK_WAIT_NS)
        files_pause_ns(PAUSE_NS);
}

/* Saves all counts, and releases the storages' threads. Then starts a thread that emits events about programs that
 * were not stored, and waits for it briefly. */
static void finish_all(void)
{
    pthread_t thread;
    for_each_storage(savings_save);
    let_go_of_threads();
    const uint64_t began_ns = files_steady_clock_ns();
    if (!is_any(store_queue_is_pending) || !thread_start(&thread, tell_lost_programs, NULL))
        return;
    (void)pthread_detach(thread);
    while (!atomic_load_explicit(&is_told, memory_order_acquire) && files_steady_clock_ns() - began_ns < MAX_TELLING_NS)
        files_pause_ns(PAUSE_NS);
}

void last_work_add(ingot_storage_t storage)
{
    process_end_set_work(do_all, finish_all);
    pthread_mutex_lock(&lock);
    if (*find_storage_link(storage) == NULL) {
        storage->queue.next = first;
        first = storage;
    }
    pthread_mutex_unlock(&lock);
}

void last_work_remove(ingot_storage_t storage)
{
    pthread_mutex_lock(&lock);
    ingot_storage_t *at = find_storage_link(storage);
    if (*at != NULL)
        *at = storage->queue.next;
    pthread_mutex_unlock(&lock);
}
