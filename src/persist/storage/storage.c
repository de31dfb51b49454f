/*
 * storage.c - creates and releases storages, and implements their statistics; see storage.h.
 */
#include "persist/storage/storage.h"

#include <ingot/backend.h>
#include <ingot/private/persist.h>
#include <pthread.h>
#include <string.h>

#include "persist/base/files.h"
#include "persist/base/kept_error.h"
#include "persist/base/memory.h"
#include "persist/storage/deferred.h"
#include "persist/storage/kinds.h"
#include "persist/storage/serving.h"
#include "persist/storage/state.h"
#include "persist/storage/trust.h"
#include "util/process_number.h"
#include "util/struct_size.h"
#include "util/thread.h"

/* ---- weak references ---- */

void storage_retain_weakly(ingot_storage_t storage)
{
    atomic_fetch_add_explicit(&storage->weak_references, 1, memory_order_relaxed);
}

void storage_release_weakly(ingot_storage_t storage)
{
    if (atomic_fetch_sub_explicit(&storage->weak_references, 1, memory_order_acq_rel) == 1)
        memory_free(&memory_c_allocator, storage, sizeof(*storage));
}

ingot_storage_t storage_follow(ingot_storage_t storage)
{
    size_t count = storage_is_here(storage) ? atomic_load_explicit(&storage->references, memory_order_relaxed) : 0;
    while (count != 0 && !atomic_compare_exchange_weak_explicit(&storage->references, &count, count + 1,
                                                                memory_order_relaxed, memory_order_relaxed)) {
    }
    return count != 0 ? storage : NULL; /* 0: the last reference was released */
}

/* ---- storages ---- */

static void take_storage_info(struct ingot_storage *storage, const ingot_persist_info_t *info)
{
    storage->is_read_only = (info->flags & (uint32_t)INGOT_PERSIST_READ_ONLY) != 0;
    storage->on_event = info->on_event;
    storage->on_event_user = info->on_event_user;
    atomic_init(&storage->store_mode, (uint32_t)info->store_mode);
    storage->on_miss = (uint32_t)info->on_miss;
}

static void finish_storage(ingot_storage_t storage);

ingot_status_t storage_create(ingot_storage_t *storage, enum storage_kind kind, const ingot_storage_ops_t *ops,
                              const struct storage_own_ops *own, void *self, const ingot_allocator_t *allocator,
                              const ingot_persist_info_t *info)
{
    static const struct storage_own_ops none = {.store_new = NULL};
    static atomic_uint_fast64_t newest_number;
    ingot_storage_ops_t copy;
    if (!STRUCT_READ(copy, ops))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "ops is NULL, or its struct_size is not set");
    struct ingot_storage *made = memory_allocate(&memory_c_allocator, sizeof(*made)); /* may outlive `allocator` */
    if (made == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a storage");
    *made = (struct ingot_storage){.kind = kind,
                                   .process = process_number(),
                                   .ops = copy,
                                   .own = own != NULL ? own : &none,
                                   .self = self,
                                   .allocator = *allocator};
    atomic_init(&made->references, 1);
    atomic_init(&made->weak_references, 1);
    made->number = atomic_fetch_add_explicit(&newest_number, 1, memory_order_relaxed) + 1;
    pthread_mutex_init(&made->deferred.lock, NULL);
    pthread_mutex_init(&made->settings_lock, NULL);
    pthread_mutex_init(&made->uses_lock, NULL);
    thread_condition_init(&made->uses_changed);
    if (info != NULL)
        take_storage_info(made, info);
    const ingot_status_t trusted = info != NULL ? ingot_persist_set_trust(made, info->trust) : INGOT_SUCCESS;
    if (trusted != INGOT_SUCCESS) {
        made->ops.destroy = NULL; /* self stays the caller's on failure, so it must not be destroyed */
        finish_storage(made);
        return trusted;
    }
    *storage = made;
    return INGOT_SUCCESS;
}

ingot_status_t ingot_storage_create(ingot_storage_t *storage, const ingot_storage_ops_t *ops, void *self)
{
    ingot_storage_ops_t copy;
    ingot_allocator_t allocator;
    if (storage == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "storage is NULL");
    if (STRUCT_READ(copy, ops) && copy.load == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "a storage's load operation is required");
    if (STRUCT_READ(copy, ops) && (copy.take_lease == NULL) != (copy.end_lease == NULL))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS,
                                      "take_lease and end_lease are set together, or not at all");
    (void)memory_init(&allocator, NULL);
    return storage_create(storage, STORAGE_OTHER, ops, NULL, self, &allocator, NULL);
}

void ingot_storage_retain(ingot_storage_t storage)
{
    if (storage != NULL)
        atomic_fetch_add_explicit(&storage->references, 1, memory_order_relaxed);
}

static void finish_storage(ingot_storage_t storage)
{
    ingot_persist_flush_progress_t unused = INGOT_PERSIST_FLUSH_PROGRESS_INIT;
    struct kept_error kept;
    kept_error_save(&kept); /* the flush may fail, which only events report */
    (void)deferred_store_all(storage, UINT64_MAX, &unused);
    pthread_mutex_destroy(&storage->deferred.lock);
    if (storage->recording != NULL)
        storage->end_recording(storage->recording);
    pthread_mutex_destroy(&storage->settings_lock);
    pthread_mutex_destroy(&storage->uses_lock);
    pthread_cond_destroy(&storage->uses_changed);
    keyring_release(storage->keyring);
    if (storage->ops.destroy != NULL)
        storage->ops.destroy(storage->self);
    for (size_t i = 0; i < storage->tier_count; ++i)
        ingot_storage_release(storage->tiers[i]);
    storage_release_weakly(storage);
    kept_error_restore(&kept);
}

void ingot_storage_release(ingot_storage_t storage)
{
    if (storage == NULL || atomic_fetch_sub_explicit(&storage->references, 1, memory_order_acq_rel) != 1)
        return;
    if (!storage_is_here(storage))
        return; /* a forked child leaks it, because its parent's threads may have been changing it at the fork */
    finish_storage(storage);
}

/* ---- for other files ---- */

ingot_status_t storage_check_id(ingot_storage_t storage, size_t id_size, const uint8_t *id)
{
    if (storage == NULL || id == NULL || id_size == 0)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "storage or id is missing or empty");
    return INGOT_SUCCESS;
}

const char *storage_name_space(ingot_storage_t storage)
{
    return storage->own->name_space != NULL ? storage->own->name_space(storage->self) : "";
}

bool storage_is_hopeless(ingot_storage_t storage, size_t id_size, const uint8_t *id)
{
    const struct build_locks *locks = storage->own->build_locks;
    bool is_hopeless =
        storage_is_on(storage) && locks != NULL && locks->look(storage->self, id_size, id) == BUILD_LOCK_POINTLESS;
    for (size_t i = 0; i < storage->tier_count && !is_hopeless; ++i)
        is_hopeless = storage_is_hopeless(storage->tiers[i], id_size, id);
    return is_hopeless;
}

bool storage_takes_wishes(ingot_storage_t storage)
{
    return storage->ops.leave_wish != NULL && storage_is_writable(storage) && storage_is_on(storage);
}

ingot_status_t storage_look_wish(ingot_storage_t storage, size_t id_size, const uint8_t *id)
{
    return storage->own->look_wish != NULL ? storage->own->look_wish(storage->self, id_size, id) : INGOT_SUCCESS;
}

ingot_status_t storage_leave_wish(ingot_storage_t storage, size_t id_size, const uint8_t *id)
{
    return storage->ops.leave_wish(storage->self, id_size, id);
}

void *storage_self(ingot_storage_t storage, enum storage_kind kind)
{
    return storage != NULL && storage->kind == kind ? storage->self : NULL;
}

ingot_status_t ingot_storage_get_self(ingot_storage_t storage, void (*destroy)(void *self), void **self)
{
    const ingot_status_t status = storage_check(storage);
    if (status != INGOT_SUCCESS)
        return status;
    if (storage->ops.destroy != destroy)
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "the storage is of another kind");
    *self = storage->self;
    return status;
}

const ingot_storage_ops_t *storage_ops(ingot_storage_t storage)
{
    return &storage->ops;
}

uint64_t storage_number(ingot_storage_t storage)
{
    return storage->number;
}

const ingot_allocator_t *storage_allocator(ingot_storage_t storage)
{
    return &storage->allocator;
}

ingot_storage_t storage_tier(ingot_storage_t storage, size_t number)
{
    return number < storage->tier_count ? storage->tiers[number] : NULL;
}

ingot_storage_t storage_stored_to(ingot_storage_t storage)
{
    while (storage != NULL && storage->model != NULL)
        storage = storage->model;
    return storage;
}

void storage_fill_stats(ingot_storage_t storage, const struct counters *of_store, ingot_persist_stats_t *stats)
{
    const struct counters *counters = &storage->counters;
    stats->hits = counters_get(counters, COUNTER_HITS);
    stats->misses = counters_get(counters, COUNTER_MISSES);
    stats->stores = counters_get(counters, COUNTER_STORES);
    stats->failures = counters_get(counters, COUNTER_FAILURES);
    stats->read_only = counters_get(counters, COUNTER_READ_ONLY);
    stats->no_space = counters_get(counters, COUNTER_NO_SPACE);
    stats->lock_timeouts = counters_get(counters, COUNTER_LOCK_TIMEOUTS);
    stats->untrusted = counters_get(counters, COUNTER_UNTRUSTED);
    stats->corrupt = counters_get(counters, COUNTER_CORRUPT);
    stats->other_versions = counters_get(counters, COUNTER_OTHER_VERSIONS);
    stats->io_errors = counters_get(counters, COUNTER_IO_ERRORS);
    stats->out_of_memory = counters_get(counters, COUNTER_OUT_OF_MEMORY);
    if (of_store != NULL) {
        stats->refused = counters_get(of_store, COUNTER_REFUSED);
        stats->evictions = counters_get(of_store, COUNTER_EVICTIONS);
        stats->not_kept = counters_get(of_store, COUNTER_NOT_KEPT);
        stats->expired = counters_get(of_store, COUNTER_EXPIRED);
        stats->unstamped = counters_get(of_store, COUNTER_UNSTAMPED);
        stats->leftovers = counters_get(of_store, COUNTER_LEFTOVERS);
    }
    stats->distrusted = counters_get(counters, COUNTER_DISTRUSTED);
    stats->rejected = counters_get(counters, COUNTER_REJECTED);
    stats->waiting = deferred_count(storage);
    stats->awaited = counters_get(counters, COUNTER_AWAITED);
    stats->wait_timeouts = counters_get(counters, COUNTER_WAIT_TIMEOUTS);
}

void *storage_recording(ingot_storage_t storage)
{
    return storage_is_here(storage) ? storage->recording : NULL;
}

void storage_set_recording(ingot_storage_t storage, void *recording, void (*end)(void *recording))
{
    storage->recording = recording;
    storage->end_recording = end;
}

/* ---- counters ---- */

void counters_add(struct counters *counters, enum counter counter, uint64_t more)
{
    atomic_fetch_add_explicit(&counters->values[counter], more, memory_order_relaxed);
}

uint64_t counters_get(const struct counters *counters, enum counter counter)
{
    return atomic_load_explicit(&counters->values[counter], memory_order_relaxed);
}

static enum counter reason_of(ingot_status_t status)
{
    switch ((int)status) {
    case INGOT_READ_ONLY: return COUNTER_READ_ONLY;
    case INGOT_NO_SPACE: return COUNTER_NO_SPACE;
    case INGOT_BUSY: return COUNTER_LOCK_TIMEOUTS;
    case INGOT_UNTRUSTED: return COUNTER_UNTRUSTED;
    case INGOT_BLOB_TRUNCATED:
    case INGOT_BLOB_CORRUPT: return COUNTER_CORRUPT;
    case INGOT_BLOB_VERSION: return COUNTER_OTHER_VERSIONS;
    case INGOT_OUT_OF_MEMORY: return COUNTER_OUT_OF_MEMORY;
    default: return COUNTER_IO_ERRORS;
    }
}

void counters_add_failure(struct counters *counters, ingot_status_t status)
{
    counters_add(counters, COUNTER_FAILURES, 1);
    counters_add(counters, reason_of(status), 1);
}
