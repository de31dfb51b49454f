/*
 * storage.c - creates and releases storages, and implements their settings and statistics; see storage.h.
 */
#include "persist/storage/storage.h"

#include <ingot/backend.h>
#include <ingot/private/event.h>
#include <ingot/private/persist.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "persist/base/base.h"
#include "persist/storage/kinds.h"
#include "persist/storage/state.h"
#include "util/process_number.h"
#include "util/struct_size.h"
#include "util/thread.h"

#define FORKED "the storage is off in this process, which was forked from the one that opened it: open another one here"

/* ---- whether a storage is on ---- */

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
        storage_tell(storage, INGOT_EVENT_STORAGE_DEGRADED, INGOT_READ_ONLY, 0, files_steady_clock_ns(), "", FORKED);
    return ingot_set_error_detail(status, storage_is_here(storage) ? "the storage is off" : FORKED);
}

/* ---- events ---- */

/* A storage does not belong to a context, but callers use it for programs that do. This is the context for which the
 * thread currently works. Callbacks run with no lock held. */
static _Thread_local const struct ingot_context *current_context;

const struct ingot_context *events_enter(const struct ingot_context *context)
{
    const struct ingot_context *before = current_context;
    current_context = context;
    return before;
}

void events_leave(const struct ingot_context *before)
{
    current_context = before;
}

static ingot_event_t make_event(ingot_event_kind_t kind, ingot_status_t status, uint64_t bytes, uint64_t started_ns,
                                const char *name, const char *reason)
{
    ingot_event_t event = INGOT_EVENT_INIT;
    event.kind = kind;
    event.status = status;
    event.bytes = bytes < SIZE_MAX ? (size_t)bytes : SIZE_MAX;
    event.duration_ns = files_steady_clock_ns() - started_ns;
    event.name = name;
    event.reason = reason;
    return event;
}

bool storage_has_listener(ingot_storage_t storage)
{
    return storage->on_event != NULL;
}

void storage_tell(ingot_storage_t storage, ingot_event_kind_t kind, ingot_status_t status, uint64_t bytes,
                  uint64_t started_ns, const char *name, const char *reason)
{
    const struct ingot_storage *listener = storage->listener != NULL ? storage->listener : storage;
    const bool is_callers = kind == INGOT_EVENT_STORAGE_LOAD || kind == INGOT_EVENT_STORAGE_STORE;
    const struct ingot_context *context = is_callers ? NULL : current_context;
    if (listener->on_event == NULL && context == NULL)
        return;
    const ingot_event_t event = make_event(kind, status, bytes, started_ns, name, reason);
    if (listener->on_event != NULL)
        listener->on_event(&event, listener->on_event_user);
    if (context != NULL)
        ingot_context_emit_event(context, &event);
}

void events_tell_context(const struct ingot_context *context, ingot_event_kind_t kind, ingot_status_t status,
                         size_t bytes, uint64_t started_ns, const char *reason)
{
    const ingot_event_t event = make_event(kind, status, bytes, started_ns, "", reason);
    ingot_context_emit_event(context, &event);
}

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

static void finish_storage(ingot_storage_t storage);

ingot_status_t storage_create(ingot_storage_t *storage, enum storage_kind kind, const ingot_storage_ops_t *ops,
                              void *self, const ingot_allocator_t *allocator, const ingot_persist_info_t *info,
                              bool must_require_seals)
{
    static atomic_uint_fast64_t newest_number;
    struct ingot_storage *made = memory_allocate(&memory_c_allocator, sizeof(*made)); /* may outlive `allocator` */
    if (made == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a storage");
    *made = (struct ingot_storage){.kind = kind,
                                   .process = process_number(),
                                   .ops = *ops,
                                   .self = self,
                                   .allocator = *allocator,
                                   .must_require_seals = must_require_seals};
    atomic_init(&made->references, 1);
    atomic_init(&made->weak_references, 1);
    made->number = atomic_fetch_add_explicit(&newest_number, 1, memory_order_relaxed) + 1;
    pthread_mutex_init(&made->deferred.lock, NULL);
    pthread_mutex_init(&made->settings_lock, NULL);
    pthread_mutex_init(&made->uses_lock, NULL);
    thread_condition_init(&made->uses_changed);
    if (info != NULL) {
        made->is_read_only = (info->flags & (uint32_t)INGOT_PERSIST_READ_ONLY) != 0;
        made->on_event = info->on_event;
        made->on_event_user = info->on_event_user;
        atomic_init(&made->store_mode, (uint32_t)info->store_mode);
        made->on_miss = (uint32_t)info->on_miss;
    }
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
    if (storage == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "storage is NULL");
    if (!STRUCT_READ(copy, ops))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "ops is NULL, or its struct_size is not set");
    if (copy.load == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "a storage's load operation is required");
    if ((copy.take_lease == NULL) != (copy.end_lease == NULL))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS,
                                      "take_lease and end_lease are set together, or not at all");
    return storage_create(storage, STORAGE_OTHER, &copy, self, &memory_c_allocator, NULL, false);
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
    (void)deferred_store(storage, NULL, UINT64_MAX, &unused);
    pthread_mutex_destroy(&storage->deferred.lock);
    if (storage->recording != NULL)
        record_end(storage->recording);
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

/* ---- settings ---- */

/* A setting that fits in a word is an atomic variable, which needs no lock: the settings do not depend on each other,
 * and threads read a setting whenever they need it. */

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
    if (storage->kind == STORAGE_DIRECTORY)
        directory_get_limits(storage->self, settings);
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

ingot_status_t ingot_persist_set_settings(ingot_storage_t storage, const ingot_persist_settings_t *settings)
{
    ingot_persist_settings_t known;
    if (!STRUCT_IS_SET(settings))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "settings or its struct_size is missing");
    const ingot_status_t status = storage_check(storage);
    if (status != INGOT_SUCCESS)
        return status;
    read_storage_settings(storage, &known);
    (void)STRUCT_READ_OVER(known, settings);
    if (!storage_is_store_mode(known.store_mode))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "store_mode %d is not a valid value",
                                      (int)known.store_mode);
    if (storage->kind != STORAGE_DIRECTORY && (known.max_bytes != 0 || known.max_entries != 0 || known.max_age_ms != 0))
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "only a directory store has limits");
    atomic_store_explicit(&storage->is_off, known.is_off != 0, memory_order_relaxed);
    atomic_store_explicit(&storage->is_written_through, known.write_through != 0, memory_order_relaxed);
    atomic_store_explicit(&storage->store_mode, (uint32_t)known.store_mode, memory_order_relaxed);
    if (storage->kind == STORAGE_DIRECTORY)
        directory_set_limits(storage->self, &known);
    return INGOT_SUCCESS;
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
    return storage->kind == STORAGE_DIRECTORY ? directory_name_space(storage->self) : "";
}

bool storage_is_hopeless(ingot_storage_t storage, size_t id_size, const uint8_t *id)
{
    bool is_hopeless = storage_is_on(storage) && storage_has_build_locks(storage) &&
                       build_lock_look(storage->self, id_size, id) == BUILD_LOCK_POINTLESS;
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
    return storage->kind == STORAGE_DIRECTORY ? wishes_look(storage->self, id_size, id) : INGOT_SUCCESS;
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
    if (!storage_is_here(storage) || storage->ops.destroy != destroy)
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "the storage is of another kind or process");
    *self = storage->self;
    return INGOT_SUCCESS;
}

const ingot_storage_ops_t *storage_ops(ingot_storage_t storage)
{
    return &storage->ops;
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

struct recording *storage_recording(ingot_storage_t storage)
{
    return storage_is_here(storage) ? storage->recording : NULL;
}

void storage_set_recording(ingot_storage_t storage, struct recording *recording)
{
    storage->recording = recording;
}

/* ---- counters ---- */

void storage_count(ingot_storage_t storage, enum counter counter, uint64_t more)
{
    atomic_fetch_add_explicit(&storage->counts[counter], more, memory_order_relaxed);
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

void storage_count_failure(ingot_storage_t storage, ingot_status_t status)
{
    storage_count(storage, COUNTER_FAILURES, 1);
    storage_count(storage, reason_of(status), 1);
}

static uint64_t count_of(const struct ingot_storage *storage, enum counter counter)
{
    return atomic_load_explicit(&storage->counts[counter], memory_order_relaxed);
}

void storage_fill_stats(ingot_storage_t storage, ingot_persist_stats_t *stats)
{
    stats->hits = count_of(storage, COUNTER_HITS);
    stats->misses = count_of(storage, COUNTER_MISSES);
    stats->stores = count_of(storage, COUNTER_STORES);
    stats->failures = count_of(storage, COUNTER_FAILURES);
    stats->read_only = count_of(storage, COUNTER_READ_ONLY);
    stats->no_space = count_of(storage, COUNTER_NO_SPACE);
    stats->lock_timeouts = count_of(storage, COUNTER_LOCK_TIMEOUTS);
    stats->untrusted = count_of(storage, COUNTER_UNTRUSTED);
    stats->corrupt = count_of(storage, COUNTER_CORRUPT);
    stats->other_versions = count_of(storage, COUNTER_OTHER_VERSIONS);
    stats->io_errors = count_of(storage, COUNTER_IO_ERRORS);
    stats->out_of_memory = count_of(storage, COUNTER_OUT_OF_MEMORY);
    stats->refused = count_of(storage, COUNTER_REFUSED);
    stats->evictions = count_of(storage, COUNTER_EVICTIONS);
    stats->not_kept = count_of(storage, COUNTER_NOT_KEPT);
    stats->expired = count_of(storage, COUNTER_EXPIRED);
    stats->unstamped = count_of(storage, COUNTER_UNSTAMPED);
    stats->leftovers = count_of(storage, COUNTER_LEFTOVERS);
    stats->distrusted = count_of(storage, COUNTER_DISTRUSTED);
    stats->rejected = count_of(storage, COUNTER_REJECTED);
    stats->waiting = deferred_count(storage);
    stats->awaited = count_of(storage, COUNTER_AWAITED);
    stats->wait_timeouts = count_of(storage, COUNTER_WAIT_TIMEOUTS);
}
