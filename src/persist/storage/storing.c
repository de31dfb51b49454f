/*
 * storing.c - determines when a storage stores, and how long this may delay the end of the process, from the
 * application's settings and the defaults.
 */
#include "persist/storage/storing.h"

#include "persist/storage/common/state.h"
#include "persist/storage/trust.h"

#define NS_PER_MS UINT64_C(1000000)
#define DEFAULT_EXIT_TIME_MS 5000u

/* Returns a storage's mode. In a chain, its own setting comes first, then the setting of the tier that it stores to. */
ingot_persist_store_mode_t storage_store_mode(ingot_storage_t storage)
{
    ingot_persist_store_mode_t mode = INGOT_PERSIST_STORE_AUTO;
    for (; storage != NULL && mode == INGOT_PERSIST_STORE_AUTO; storage = storage->model) {
        mode = atomic_load_explicit(&storage->store_mode, memory_order_relaxed);
        if (mode == INGOT_PERSIST_STORE_AUTO)
            mode = atomic_load_explicit(&storage->inherited_mode, memory_order_relaxed);
    }
    return mode;
}

static uint32_t exit_time_ms(ingot_storage_t storage)
{
    uint32_t time_ms = 0;
    for (; storage != NULL && time_ms == 0; storage = storage->model) {
        time_ms = atomic_load_explicit(&storage->exit_time_ms, memory_order_relaxed);
        if (time_ms == 0)
            time_ms = atomic_load_explicit(&storage->inherited_exit_ms, memory_order_relaxed);
    }
    return time_ms;
}

static uint32_t quiet_time_ms(ingot_storage_t storage)
{
    uint32_t time_ms = 0;
    for (; storage != NULL && time_ms == 0; storage = storage->model) {
        time_ms = atomic_load_explicit(&storage->quiet_time_ms, memory_order_relaxed);
        if (time_ms == 0)
            time_ms = atomic_load_explicit(&storage->inherited_quiet_ms, memory_order_relaxed);
    }
    return time_ms;
}

void storage_inherit_storing(ingot_storage_t storage, ingot_storage_t from)
{
    atomic_store_explicit(&storage->inherited_mode, storage_store_mode(from), memory_order_relaxed);
    atomic_store_explicit(&storage->inherited_exit_ms, exit_time_ms(from), memory_order_relaxed);
    atomic_store_explicit(&storage->inherited_quiet_ms, quiet_time_ms(from), memory_order_relaxed);
}

uint64_t storage_exit_time_ns(ingot_storage_t storage)
{
    const uint32_t time_ms = exit_time_ms(storage);
    return time_ms == INGOT_PERSIST_NO_TIME ? 0 : (time_ms != 0 ? time_ms : DEFAULT_EXIT_TIME_MS) * NS_PER_MS;
}

uint64_t storage_quiet_time_ns(ingot_storage_t storage)
{
    const uint32_t time_ms = quiet_time_ms(storage);
    return time_ms == INGOT_PERSIST_NO_TIME || time_ms == 0 ? UINT64_MAX : time_ms * NS_PER_MS;
}

bool storage_keeps_blobs(ingot_storage_t storage)
{
    if (storage->kind == STORAGE_CHAIN)
        return storage->model != NULL;
    return storage->ops.store != NULL && !storage->is_read_only;
}

bool storage_is_writable(ingot_storage_t storage)
{
    return storage_keeps_blobs(storage) && !trust_forbids_storing(storage);
}

bool storing_is_mode(ingot_persist_store_mode_t mode)
{
    return mode == INGOT_PERSIST_STORE_AUTO || mode == INGOT_PERSIST_STORE_NOW ||
           mode == INGOT_PERSIST_STORE_ON_FLUSH || mode == INGOT_PERSIST_STORE_BACKGROUND;
}
