/*
 * chain.c - combines several storages, in order, into one. The other files of this folder load from its tiers and store
 * in them. The tiers do not change, so they need no lock.
 */
#include <ingot/backend.h>

#include "persist/base/memory.h"
#include "persist/storage/common/state.h"
#include "persist/storage/storage.h"
#include "persist/storage/storing.h"

ingot_status_t ingot_persist_chain(ingot_storage_t *storage, size_t tier_count, const ingot_storage_t *tiers)
{
    static const ingot_storage_ops_t ops = {.struct_size = sizeof(ops)};
    ingot_allocator_t allocator;
    if (storage == NULL || tiers == NULL || tier_count == 0 || tier_count > STORAGE_MAX_TIERS)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS,
                                      "storage or tiers is NULL, or tier_count is not 1 to 16");
    for (size_t i = 0; i < tier_count; ++i)
        if (tiers[i] == NULL)
            return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "tier %zu is NULL", i);
    (void)memory_init(&allocator, NULL);
    const ingot_status_t status = storage_create(storage, STORAGE_OTHER, &ops, NULL, NULL, &allocator, NULL);
    if (status != INGOT_SUCCESS)
        return status;
    struct ingot_storage *chain = *storage;
    for (; chain->tier_count < tier_count; ++chain->tier_count) {
        ingot_storage_t tier = tiers[chain->tier_count];
        ingot_storage_retain(tier);
        chain->tiers[chain->tier_count] = tier;
        if (chain->listener == NULL)
            chain->listener = tier->on_event != NULL ? tier : tier->listener;
        if (chain->model == NULL && storage_keeps_blobs(tier))
            chain->model = tier;
    }
    return INGOT_SUCCESS;
}
