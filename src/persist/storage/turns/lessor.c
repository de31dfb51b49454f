/*
 * lessor.c - finds the storage that gives leases; see lessor.h.
 *
 * A storage in which the application's blobs are not stored is never the lessor, because other machines would wait for
 * a blob that never arrives there.
 */
#include "persist/storage/turns/lessor.h"

#include "persist/storage/common/serving.h"
#include "persist/storage/common/state.h"
#include "persist/storage/storing.h"

/* True if every blob that the application makes is stored in the storage, although the policies in `around` apply. */
static bool gets_stores(ingot_storage_t storage, const struct storage_around *around)
{
    return atomic_load_explicit(&storage->is_written_through, memory_order_relaxed) &&
           storage_is_writable(storage, around);
}

static ingot_storage_t find_lessor(ingot_storage_t storage, const struct storage_around *around)
{
    const struct storage_around here = {storage, around, false};
    struct storage_front front = {.chain = storage, .around = &here};
    ingot_storage_t found = NULL;
    if (!storage_is_on(storage))
        return NULL;
    if (storage->ops.take_lease != NULL && gets_stores(storage, around)) {
        ingot_storage_retain(storage);
        return storage;
    }
    for (size_t i = 0; i < storage->tier_count && found == NULL; ++i) {
        found = find_lessor(storage->tiers[i], front.around);
        storage_front_pass(&front, i);
    }
    return found;
}

ingot_storage_t lessor_find(ingot_storage_t storage)
{
    return find_lessor(storage, NULL);
}
