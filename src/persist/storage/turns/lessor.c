/*
 * lessor.c - finds and calls the storage that gives leases; see lessor.h.
 *
 * A storage in which the application's blobs are not stored is never the lessor, because other machines would wait for
 * a blob that never arrives there.
 */
#include "persist/storage/turns/lessor.h"

#include <ingot/backend.h>
#include <stdbool.h>

#include "persist/storage/common/serving.h"
#include "persist/storage/common/state.h"
#include "persist/storage/storing.h"
#include "util/struct_size.h"

ingot_status_t ingot_storage_set_leases(ingot_storage_t storage, const ingot_lease_ops_t *ops)
{
    ingot_lease_ops_t known;
    if (storage == NULL || !STRUCT_READ(known, ops))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "storage, ops or its struct_size is missing");
    if (known.take == NULL || known.end == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the operations of leases are take and end, and both "
                                                               "are required");
    storage->leases = known;
    return INGOT_SUCCESS;
}

ingot_storage_t lessor_find(ingot_storage_t storage)
{
    ingot_storage_t found = NULL;
    if (!storage_is_on(storage))
        return NULL;
    if (storage->leases.take != NULL) {
        const bool gets_stores = atomic_load_explicit(&storage->is_written_through, memory_order_relaxed);
        return gets_stores && storage_is_writable(storage) && ingot_storage_retain(storage) == INGOT_SUCCESS ? storage
                                                                                                             : NULL;
    }
    if (storage->take_target != NULL) {
        ingot_storage_t target = storage->take_target(storage->self);
        found = target != NULL ? lessor_find(target) : NULL;
        ingot_storage_release(target);
        return found;
    }
    for (size_t i = 0; found == NULL && storage->get_tier != NULL; ++i) {
        ingot_storage_t tier = storage->get_tier(storage->self, i);
        if (tier == NULL)
            break;
        found = lessor_find(tier);
    }
    return found;
}

ingot_lease_answer_t lessor_take(ingot_storage_t lessor, size_t id_size, const uint8_t *id, int is_blob_useless,
                                 void **lease)
{
    return lessor->leases.take(lessor->self, id_size, id, is_blob_useless, lease);
}

void lessor_end(ingot_storage_t lessor, void *lease, int may_others_take)
{
    lessor->leases.end(lessor->self, lease, may_others_take);
}
