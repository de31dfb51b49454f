/*
 * storing.c - when a storage stores, and for how long: what an application says, and the defaults.
 */
#include <ingot/backend.h>

#include "persist/base/files.h"
#include "persist/storage/events.h"
#include "persist/storage/storage.h"
#include "util/struct_size.h"

#define NS_PER_MS UINT64_C(1000000)
#define DEFAULT_EXIT_TIME_MS 5000u

/* What was said to a chain comes first, then what was said to the tier that it stores to. */
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

bool storage_is_writable(ingot_storage_t storage)
{
    const struct directory *directory = directory_of(storage);
    if (storage->is_chain)
        return storage->model != NULL;
    return storage->ops.store != NULL && (directory == NULL || !directory->is_read_only);
}

bool storing_is_mode(ingot_persist_store_mode_t mode)
{
    return mode == INGOT_PERSIST_STORE_AUTO || mode == INGOT_PERSIST_STORE_NOW ||
           mode == INGOT_PERSIST_STORE_ON_FLUSH || mode == INGOT_PERSIST_STORE_BACKGROUND;
}

ingot_status_t ingot_persist_set_storing(ingot_storage_t storage, const ingot_persist_storing_t *storing)
{
    ingot_persist_storing_t known = INGOT_PERSIST_STORING_INIT;
    if (storage == NULL || !STRUCT_READ_OVER(known, storing))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "storage, storing or its struct_size is missing");
    if (!storing_is_mode(known.store_mode))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "store_mode %d is not a valid value",
                                      (int)known.store_mode);
    atomic_store_explicit(&storage->store_mode, known.store_mode, memory_order_relaxed);
    atomic_store_explicit(&storage->exit_time_ms, known.exit_time_ms, memory_order_relaxed);
    atomic_store_explicit(&storage->quiet_time_ms, known.quiet_time_ms, memory_order_relaxed);
    store_queue_wake(storage);
    return INGOT_SUCCESS;
}

ingot_status_t ingot_persist_get_storing(ingot_storage_t storage, ingot_persist_storing_t *storing)
{
    if (storage == NULL || !STRUCT_IS_SET(storing))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "storage, storing or its struct_size is missing");
    const ingot_persist_storing_t known = {
        .struct_size = sizeof(known),
        .store_mode = atomic_load_explicit(&storage->store_mode, memory_order_relaxed),
        .exit_time_ms = atomic_load_explicit(&storage->exit_time_ms, memory_order_relaxed),
        .quiet_time_ms = atomic_load_explicit(&storage->quiet_time_ms, memory_order_relaxed),
    };
    (void)STRUCT_WRITE(storing, known);
    return INGOT_SUCCESS;
}

void storage_tell_degraded(ingot_storage_t storage, const struct ingot_context *context, ingot_status_t status,
                           const char *reason)
{
    const uint64_t now_ns = files_steady_clock_ns();
    const struct directory *directory = directory_of(storage);
    if (directory != NULL)
        events_tell(directory, INGOT_EVENT_STORAGE_DEGRADED, status, 0, now_ns, "", reason);
    events_tell_context(context, INGOT_EVENT_STORAGE_DEGRADED, status, 0, now_ns, reason);
}

ingot_status_t ingot_persist_flush_with(ingot_storage_t storage, const ingot_persist_flush_info_t *info,
                                        ingot_persist_flush_progress_t *progress)
{
    ingot_persist_flush_info_t known = INGOT_PERSIST_FLUSH_INFO_INIT;
    ingot_persist_flush_progress_t reached = INGOT_PERSIST_FLUSH_PROGRESS_INIT;
    if (storage == NULL || (info != NULL && !STRUCT_READ_OVER(known, info)) ||
        (progress != NULL && !STRUCT_IS_SET(progress)))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "storage is NULL, or a struct_size is not set");
    const ingot_status_t flushed = store_queue_flush(storage, &known, &reached);
    (void)STRUCT_WRITE(progress, reached);
    const ingot_status_t saved = recorder_save(&storage->recorder);
    return flushed != INGOT_SUCCESS ? flushed : saved;
}

ingot_status_t ingot_persist_flush(ingot_storage_t storage)
{
    return ingot_persist_flush_with(storage, NULL, NULL);
}
