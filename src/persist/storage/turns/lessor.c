/*
 * lessor.c - finds and calls the storage that gives leases; see lessor.h.
 *
 * A storage in which the application's blobs are not stored is never the lessor, because other machines would wait for
 * a blob that never arrives there.
 */
#include "persist/storage/turns/lessor.h"

#include <stdbool.h>

#include "persist/storage/common/serving.h"
#include "persist/storage/common/state.h"
#include "persist/storage/storing.h"

/* True if every blob that the application makes is stored in the storage, although the policies in `around` apply. */
static bool gets_stores(ingot_storage_t storage, const struct storage_around *around)
{
    return atomic_load_explicit(&storage->is_written_through, memory_order_relaxed) &&
           storage_is_writable(storage, around);
}

static ingot_storage_t find_lessor(ingot_storage_t storage, const struct storage_around *around);

/* Finds the first tier, from `index` on, that gives leases and accepts stores under the policies of the tiers in front
 * of it. A recursion instead of a loop, because each tier is in front of the next. */
static ingot_storage_t find_lessor_in_tiers(ingot_storage_t chain, size_t index, const struct storage_around *around)
{
    ingot_storage_t tier = chain->own->get_tier(chain->self, index);
    const struct storage_around here = {tier, around, true};
    ingot_storage_t found = tier != NULL ? find_lessor(tier, around) : NULL;
    return found != NULL || tier == NULL ? found : find_lessor_in_tiers(chain, index + 1, &here);
}

static ingot_storage_t find_lessor(ingot_storage_t storage, const struct storage_around *around)
{
    const struct storage_around here = {storage, around, false};
    if (!storage_is_on(storage))
        return NULL;
    if (storage->ops.take_lease != NULL) {
        if (!gets_stores(storage, around))
            return NULL;
        ingot_storage_retain(storage);
        return storage;
    }
    return storage->own->get_tier != NULL ? find_lessor_in_tiers(storage, 0, &here) : NULL;
}

ingot_storage_t lessor_find(ingot_storage_t storage)
{
    return find_lessor(storage, NULL);
}

ingot_lease_answer_t lessor_take(ingot_storage_t lessor, size_t id_size, const uint8_t *id, int is_blob_useless,
                                 void **lease)
{
    return lessor->ops.take_lease(lessor->self, id_size, id, is_blob_useless, lease);
}

void lessor_end(ingot_storage_t lessor, void *lease, int may_others_take)
{
    lessor->ops.end_lease(lessor->self, lease, may_others_take);
}
