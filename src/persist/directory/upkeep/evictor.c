/*
 * evictor.c - keeps a store below its limits: evicts at once from a small store, and in a thread from a larger one.
 *
 * A thread that stores a blob never waits for the thread that evicts. The thread starts when it is needed, evicts once
 * and ends. When the store is closed or the process ends, the thread counts for at most half a second more, and removes
 * entries until a second has passed: then what it has counted stands for the whole store. A forked child has no such
 * thread, and starts its own.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "persist/directory/upkeep/evictor.h"

#include <signal.h>

#include "persist/base/files.h"
#include "persist/directory/upkeep/evict.h"
#include "persist/storage/common/process_end.h"
#include "util/cancellation.h"
#include "util/nanoseconds.h"

#define MAX_COUNTING_NS (NS_PER_SECOND / 2)
#define MAX_ENDING_NS (9 * NS_PER_SECOND / 10)
#define LEISURE_NS (60 * NS_PER_SECOND)

static _Thread_local bool is_orphan; /* in an evictor's thread: a callback has closed the store */

static void forget(void *user)
{
    struct evictor *evictor = user;
    evictor->has_thread = evictor->is_running = false;
}

ingot_status_t evictor_init(struct directory *directory)
{
    return process_lock_init(&directory->evictor.lock);
}

/* Returns how long the store or the process has been ending. */
static uint64_t ending_for_ns(const struct directory *directory)
{
    const uint64_t closed_ns = atomic_load_explicit(&directory->evictor.ending_ns, memory_order_relaxed);
    const uint64_t process_ns = process_end_began_ns();
    const uint64_t began_ns = closed_ns == 0 || (process_ns != 0 && process_ns < closed_ns) ? process_ns : closed_ns;
    const uint64_t now_ns = began_ns != 0 ? files_steady_clock_ns() : 0;
    return began_ns != 0 && now_ns > began_ns ? now_ns - began_ns : 0;
}

static bool ends_counting(const struct directory *directory, uint64_t entry_count)
{
    (void)entry_count;
    return ending_for_ns(directory) > MAX_COUNTING_NS;
}

static bool ends_removing(const struct directory *directory)
{
    return ending_for_ns(directory) > MAX_ENDING_NS;
}

static void *run(void *user)
{
    static const struct evict_end end = {ends_counting, ends_removing};
    struct directory *directory = user;
    struct evictor *evictor = &directory->evictor;
    struct evict_result result;
    bool is_sample;
    process_end_enter_reserved();
    const uint64_t wanted_bytes = atomic_exchange_explicit(&evictor->wanted_bytes, 0, memory_order_relaxed);
    (void)evict_as_needed(directory, wanted_bytes, &end, false, &is_sample, &result);
    process_end_leave();
    if (is_orphan)
        return NULL;
    process_lock_take(&evictor->lock, forget, evictor);
    evictor->is_running = false;
    process_lock_give(&evictor->lock);
    return NULL;
}

/* Starts the thread. Its signals stay the application's. Requires the lock. */
static void start(struct directory *directory)
{
    struct evictor *evictor = &directory->evictor;
    sigset_t all;
    sigset_t before;
    if (evictor->has_thread)
        (void)pthread_join(evictor->thread, NULL); /* it has ended, or is about to */
    evictor->has_thread = evictor->is_running = false;
    if (!process_end_reserve())
        return;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    evictor->has_thread = evictor->is_running = pthread_create(&evictor->thread, NULL, run, directory) == 0;
    if (!evictor->has_thread)
        process_end_cancel();
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void raise_wanted(struct evictor *evictor, uint64_t wanted_bytes)
{
    uint64_t wanted = atomic_load_explicit(&evictor->wanted_bytes, memory_order_relaxed);
    while (wanted < wanted_bytes &&
           !atomic_compare_exchange_weak_explicit(&evictor->wanted_bytes, &wanted, wanted_bytes, memory_order_relaxed,
                                                  memory_order_relaxed)) {
    }
}

void evictor_request(struct directory *directory, uint64_t wanted_bytes, bool is_urgent)
{
    struct evictor *evictor = &directory->evictor;
    const uint64_t now_ns = files_steady_clock_ns();
    const uint64_t began_ns = atomic_load_explicit(&evictor->began_ns, memory_order_relaxed);
    if (!is_urgent && began_ns != 0 && now_ns - began_ns < LEISURE_NS)
        return;
    raise_wanted(evictor, wanted_bytes);
    process_end_watch();
    const int before = cancellation_hold();
    process_lock_take(&evictor->lock, forget, evictor);
    if (!evictor->is_running) {
        atomic_store_explicit(&evictor->began_ns, now_ns, memory_order_relaxed);
        start(directory);
    }
    process_lock_give(&evictor->lock);
    cancellation_allow(before);
}

void evictor_fini(struct directory *directory)
{
    struct evictor *evictor = &directory->evictor;
    const int before = cancellation_hold();
    atomic_store_explicit(&evictor->ending_ns, files_steady_clock_ns(), memory_order_relaxed);
    process_lock_take(&evictor->lock, forget, evictor);
    const bool has_thread = evictor->has_thread;
    process_lock_give(&evictor->lock);
    is_orphan = has_thread && pthread_equal(evictor->thread, pthread_self()) != 0;
    if (is_orphan)
        (void)pthread_detach(evictor->thread);
    else if (has_thread)
        (void)pthread_join(evictor->thread, NULL);
    process_lock_fini(&evictor->lock);
    cancellation_allow(before);
}

static bool is_larger(const struct directory *directory, uint64_t entry_count)
{
    (void)directory;
    return entry_count > 2 * EVICTOR_SMALL;
}

static bool never(const struct directory *directory)
{
    (void)directory;
    return false;
}

ingot_status_t evictor_work(struct directory *directory, uint64_t wanted_bytes, bool *is_done)
{
    static const struct evict_end end = {is_larger, never};
    struct evict_result result;
    bool is_sample = false;
    const ingot_status_t status = evict_as_needed(directory, wanted_bytes, &end, true, &is_sample, &result);
    *is_done = status == INGOT_SUCCESS && !is_sample;
    if (status == INGOT_SUCCESS)
        atomic_store_explicit(&directory->evictor.large_ns, is_sample ? files_steady_clock_ns() : 0,
                              memory_order_relaxed);
    return status;
}

bool evictor_knows_large(const struct directory *directory)
{
    const uint64_t large_ns = atomic_load_explicit(&directory->evictor.large_ns, memory_order_relaxed);
    return large_ns != 0 && files_steady_clock_ns() - large_ns < LEISURE_NS;
}

void evictor_expire(struct directory *directory)
{
    bool is_done = false;
    const uint64_t oldest_ns = atomic_load_explicit(&directory->oldest_ns, memory_order_relaxed);
    if (directory->max_age_ns == UINT64_MAX ||
        (oldest_ns != 0 && directory_age_ns(files_wall_clock_ns(), oldest_ns) <= directory->max_age_ns))
        return;
    (void)evictor_work(directory, 0, &is_done);
    if (!is_done)
        evictor_request(directory, 0, false);
}
