/*
 * storing.c - determines when a storage stores, and how long this may delay the end of the process, from the
 * application's settings and the defaults.
 */
#include "persist/storage/storing.h"

#include "persist/storage/common/serving.h"
#include "persist/storage/common/state.h"
#include "persist/storage/trust.h"
#include "util/limit.h"

#define DEFAULT_EXIT_TIME_MS 5000u

/* Returns a setting of a storage, or 0 if it is not set. If a chain does not have the setting itself, uses the setting
 * of the tier in which it stores. */
static uint64_t setting_of(ingot_storage_t storage, enum storage_setting which)
{
    uint64_t value = 0;
    for (; storage != NULL && value == 0; storage = storage->model)
        value = atomic_load_explicit(&storage->settings[which], memory_order_relaxed);
    return value;
}

ingot_persist_store_mode_t storage_store_mode(ingot_storage_t storage)
{
    _Static_assert(INGOT_PERSIST_STORE_AUTO == 0, "a mode that is not set is automatic");
    return (ingot_persist_store_mode_t)setting_of(storage, STORAGE_STORE_MODE);
}

uint64_t storage_exit_time_ns(ingot_storage_t storage)
{
    return limit_time_ns(setting_of(storage, STORAGE_EXIT_TIME_MS), DEFAULT_EXIT_TIME_MS);
}

bool storage_keeps_blobs(ingot_storage_t storage)
{
    if (storage->tier_count != 0)
        return storage->model != NULL;
    return storage->ops.store != NULL && !storage->is_read_only;
}

bool storage_takes_blobs(ingot_storage_t storage)
{
    return storage_keeps_blobs(storage) && storage_is_on(storage);
}

bool storage_is_writable(ingot_storage_t storage, const struct storage_around *around)
{
    return storage_keeps_blobs(storage) && !trust_forbids_storing(storage, around);
}

bool storing_is_mode(ingot_persist_store_mode_t mode)
{
    return mode == INGOT_PERSIST_STORE_AUTO || mode == INGOT_PERSIST_STORE_NOW || mode == INGOT_PERSIST_STORE_ON_FLUSH;
}
