/*
 * savings.c - counts the programs that storages delivered without a compiler; see savings.h.
 *
 * Counts wait in memory, in the directory store to which a storage stores. A flush and the last release add
 * them to the store's file, so a process that ends without either loses only its own counts. Failures are not reported,
 * because only counts are lost.
 */
#include "persist/storage/common/savings.h"

#include "persist/base/kept_error.h"
#include "persist/storage/common/serving.h"
#include "persist/storage/common/state.h"

static void add_savings_counts(struct storage_savings *savings, const struct savings_counts *more)
{
    atomic_fetch_add_explicit(&savings->hits, more->hits, memory_order_relaxed);
    atomic_fetch_add_explicit(&savings->builds, more->builds, memory_order_relaxed);
    atomic_fetch_add_explicit(&savings->saved_ns, more->saved_ns, memory_order_relaxed);
}

/* Removes and returns the pending counts. */
static struct savings_counts take_pending_counts(struct storage_savings *savings)
{
    return (struct savings_counts){atomic_exchange_explicit(&savings->hits, 0, memory_order_relaxed),
                                   atomic_exchange_explicit(&savings->builds, 0, memory_order_relaxed),
                                   atomic_exchange_explicit(&savings->saved_ns, 0, memory_order_relaxed)};
}

ingot_storage_t savings_find_store(ingot_storage_t storage)
{
    while (storage != NULL && storage->kind != STORAGE_DIRECTORY)
        storage = storage->model;
    return storage != NULL && storage->own->save_counts != NULL && storage_is_here(storage) ? storage : NULL;
}

void savings_note(ingot_storage_t storage, bool is_hit, uint64_t saved_ns)
{
    const struct savings_counts more = {is_hit ? 1 : 0, is_hit ? 0 : 1, saved_ns};
    counters_add(&storage->counters, COUNTER_SAVED_NS, saved_ns);
    ingot_storage_t store = savings_find_store(storage);
    if (store == NULL)
        return;
    if (store != storage)
        counters_add(&store->counters, COUNTER_SAVED_NS, saved_ns);
    add_savings_counts(&store->savings, &more);
}

void savings_save(ingot_storage_t storage)
{
    struct kept_error kept;
    ingot_storage_t store = savings_find_store(storage);
    if (store == NULL)
        return;
    const struct savings_counts counts = take_pending_counts(&store->savings);
    if (counts.hits == 0 && counts.builds == 0)
        return;
    kept_error_save(&kept); /* a flush may be about to return another failure */
    if (!store->own->save_counts(store->self, &counts))
        add_savings_counts(&store->savings, &counts);
    kept_error_restore(&kept);
}
