/*
 * savings.c - counts the programs that storages delivered without a compiler; see savings.h.
 *
 * Counts wait in memory, in the directory store to which a storage stores. A flush, the last release and exit() add
 * them to the store's file, so a killed process loses only its own counts. Failures are not reported, because only
 * counts are lost.
 *
 * The lock guards the waiting counts and the list of stores that have some. It is held for a few additions. In exit(),
 * it is also held while the files are written, so that no store is destroyed meanwhile. exit() runs in a thread that
 * may hold any lock, so it tries to take this lock for a short time and then gives up. A forked child begins with an
 * empty list, because the parent saves its own counts.
 */
#include "persist/storage/common/savings.h"

#include <stdlib.h>

#include "persist/base/files.h"
#include "persist/base/kept_error.h"
#include "persist/storage/common/state.h"

#define PAUSE_NS 500000u
#define MAX_LOCK_WAIT_NS UINT64_C(100000000)

static struct process_lock lock;
static ingot_storage_t first; /* the first store in the list; the lock guards this variable and the next one */
static bool is_watching;      /* true if exit() will call save_all */

static void forget(void *user)
{
    (void)user;
    first = NULL; /* in a forked child: enlist adds its stores again, because their `process` is the parent's */
}

static void add(struct savings_counts *to, const struct savings_counts *more)
{
    to->hits += more->hits;
    to->builds += more->builds;
    to->saved_ns += more->saved_ns;
}

static bool is_empty(const struct savings_counts *counts)
{
    return counts->hits == 0 && counts->builds == 0;
}

/* Removes and returns the store's pending counts. Returns none if they were inherited from the parent process. Requires
 * the lock. */
static struct savings_counts take(ingot_storage_t store)
{
    const struct savings_counts none = {0, 0, 0};
    struct storage_savings *savings = &store->savings;
    const struct savings_counts taken = savings->process == files_process() ? savings->waiting : none;
    savings->waiting = none;
    return taken;
}

static void save_all(void)
{
    const uint64_t began_ns = files_steady_clock_ns();
    while (!process_lock_try(&lock, forget, NULL)) {
        if (files_steady_clock_ns() - began_ns > MAX_LOCK_WAIT_NS)
            return;
        files_pause_ns(PAUSE_NS);
    }
    for (ingot_storage_t store = first; store != NULL; store = store->savings.next) {
        const struct savings_counts counts = take(store);
        if (!is_empty(&counts))
            (void)store->own->save_counts(store->self, &counts);
    }
    process_lock_give(&lock);
}

/* Adds a store to the list, and makes exit() call save_all. If that fails, a process that never flushes may lose its
 * counts, but nothing else. Requires the lock. */
static void enlist(ingot_storage_t store)
{
    struct storage_savings *savings = &store->savings;
    if (savings->process == files_process())
        return;
    (void)take(store);
    savings->process = files_process();
    savings->next = first;
    first = store;
    is_watching = is_watching || atexit(save_all) == 0;
}

ingot_storage_t savings_find_store(ingot_storage_t storage)
{
    while (storage != NULL && storage->kind != STORAGE_DIRECTORY)
        storage = storage->model;
    return storage != NULL && storage->own->save_counts != NULL ? storage : NULL;
}

static void add_waiting(ingot_storage_t store, const struct savings_counts *more)
{
    process_lock_take(&lock, forget, NULL);
    enlist(store);
    add(&store->savings.waiting, more);
    process_lock_give(&lock);
}

void savings_note(ingot_storage_t storage, bool is_hit, uint64_t saved_ns)
{
    const struct savings_counts more = {is_hit ? 1 : 0, is_hit ? 0 : 1, saved_ns};
    atomic_fetch_add_explicit(&storage->saved_ns, saved_ns, memory_order_relaxed);
    ingot_storage_t store = savings_find_store(storage);
    if (store != NULL && store != storage)
        atomic_fetch_add_explicit(&store->saved_ns, saved_ns, memory_order_relaxed);
    if (store != NULL)
        add_waiting(store, &more);
}

static void save(ingot_storage_t store)
{
    struct kept_error kept;
    process_lock_take(&lock, forget, NULL);
    const struct savings_counts counts = take(store);
    process_lock_give(&lock);
    if (is_empty(&counts))
        return;
    kept_error_save(&kept); /* a flush may be about to return another failure */
    if (!store->own->save_counts(store->self, &counts))
        add_waiting(store, &counts);
    kept_error_restore(&kept);
}

void savings_save(ingot_storage_t storage)
{
    ingot_storage_t store = savings_find_store(storage);
    if (store != NULL)
        save(store);
}

void savings_fini(ingot_storage_t storage)
{
    if (storage->own->save_counts == NULL)
        return;
    save(storage);
    process_lock_take(&lock, forget, NULL);
    ingot_storage_t *at = &first;
    while (*at != NULL && *at != storage)
        at = &(*at)->savings.next;
    if (*at != NULL)
        *at = storage->savings.next;
    process_lock_give(&lock);
}
