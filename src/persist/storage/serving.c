/*
 * serving.c - returns and sets the settings of a storage, which may change while threads use it.
 *
 * A setting that fits in a word is an atomic variable, which needs no lock: the settings do not depend on each other,
 * and threads read a setting whenever they need it.
 */
#include "persist/storage/serving.h"

#include <ingot/backend.h>
#include <ingot/private/persist.h>
#include <string.h>

#include "persist/base/files.h"
#include "persist/storage/events.h"
#include "persist/storage/state.h"
#include "util/process_number.h"
#include "util/struct_size.h"

#define FORKED "the storage is off in this process, which was forked from the one that opened it: open another one here"

bool storage_is_here(ingot_storage_t storage)
{
    return storage->process == process_number();
}

ingot_status_t storage_check(ingot_storage_t storage)
{
    if (storage == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "storage is NULL");
    return storage_is_here(storage) ? INGOT_SUCCESS : storage_refuse(storage, INGOT_READ_ONLY);
}

bool storage_is_on(ingot_storage_t storage)
{
    return !atomic_load_explicit(&storage->is_off, memory_order_relaxed) && storage_is_here(storage);
}

bool storage_is_first_refusal(ingot_storage_t storage)
{
    return !storage_is_here(storage) &&
           atomic_exchange_explicit(&storage->refused_in, process_number(), memory_order_relaxed) != process_number();
}

ingot_status_t storage_refuse(ingot_storage_t storage, ingot_status_t status)
{
    if (storage_is_first_refusal(storage))
        storage_tell(storage, INGOT_EVENT_STORAGE_DEGRADED, INGOT_READ_ONLY, 0, files_steady_clock_ns(), FORKED);
    return ingot_set_error_detail(status, storage_is_here(storage) ? "the storage is off" : FORKED);
}

ingot_persist_store_mode_t ingot_persist_get_store_mode(ingot_storage_t storage)
{
    _Static_assert(INGOT_PERSIST_STORE_AUTO == 0, "a mode that is not set is automatic");
    uint32_t mode = 0;
    for (; storage != NULL && mode == 0; storage = storage->model)
        mode = atomic_load_explicit(&storage->store_mode, memory_order_relaxed);
    return (ingot_persist_store_mode_t)mode;
}

bool storage_is_store_mode(ingot_persist_store_mode_t mode)
{
    return mode == INGOT_PERSIST_STORE_AUTO || mode == INGOT_PERSIST_STORE_NOW || mode == INGOT_PERSIST_STORE_ON_FLUSH;
}

static void read_storage_settings(ingot_storage_t storage, ingot_persist_settings_t *settings)
{
    *settings = (ingot_persist_settings_t){
        .struct_size = sizeof(*settings),
        .is_off = !storage_is_on(storage),
        .write_through = atomic_load_explicit(&storage->is_written_through, memory_order_relaxed),
        .store_mode = (ingot_persist_store_mode_t)atomic_load_explicit(&storage->store_mode, memory_order_relaxed),
    };
    if (storage->own->get_limits != NULL)
        storage->own->get_limits(storage->self, settings);
}

ingot_status_t ingot_persist_get_settings(ingot_storage_t storage, ingot_persist_settings_t *settings)
{
    ingot_persist_settings_t known;
    if (!STRUCT_IS_SET(settings))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "settings or its struct_size is missing");
    const ingot_status_t status = storage_check(storage);
    if (status != INGOT_SUCCESS)
        return status;
    read_storage_settings(storage, &known);
    (void)STRUCT_WRITE(settings, known);
    return INGOT_SUCCESS;
}

static ingot_status_t check_given_settings(ingot_storage_t storage, const ingot_persist_settings_t *settings)
{
    if (!storage_is_store_mode(settings->store_mode))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "store_mode %d is not a valid value",
                                      (int)settings->store_mode);
    if (storage->own->set_limits == NULL &&
        (settings->max_bytes != 0 || settings->max_entries != 0 || settings->max_age_ms != 0))
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "only a directory store has limits");
    return INGOT_SUCCESS;
}

ingot_status_t ingot_persist_set_settings(ingot_storage_t storage, const ingot_persist_settings_t *settings)
{
    ingot_persist_settings_t known;
    if (!STRUCT_IS_SET(settings))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "settings or its struct_size is missing");
    ingot_status_t status = storage_check(storage);
    if (status != INGOT_SUCCESS)
        return status;
    read_storage_settings(storage, &known);
    (void)STRUCT_READ_OVER(known, settings);
    status = check_given_settings(storage, &known);
    if (status != INGOT_SUCCESS)
        return status;
    atomic_store_explicit(&storage->is_off, known.is_off != 0, memory_order_relaxed);
    atomic_store_explicit(&storage->is_written_through, known.write_through != 0, memory_order_relaxed);
    atomic_store_explicit(&storage->store_mode, (uint32_t)known.store_mode, memory_order_relaxed);
    if (storage->own->set_limits != NULL)
        storage->own->set_limits(storage->self, &known);
    return INGOT_SUCCESS;
}
