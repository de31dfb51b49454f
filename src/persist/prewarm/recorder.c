/*
 * recorder.c - records the ids that are requested from a storage, and saves them in a manifest.
 *
 * The recorder and the threads that are saving a record share the record; `users` counts them. The lock is held while
 * an id is noted, and never while a file is read or written. Ids are never removed from a record, so a thread that
 * saves it copies the list under the lock, but reads the bytes of the ids without the lock. A forked child drops the
 * record, because the parent saves its own requests.
 */
#include "persist/prewarm/recorder.h"

#include <ingot/backend.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "persist/base/files.h"
#include "persist/base/memory.h"
#include "persist/base/process_lock.h"
#include "persist/base/replacement.h"
#include "persist/prewarm/manifest.h"
#include "persist/storage/storage.h"
#include "util/struct_size.h"

#define DEFAULT_ENTRIES 4096u
#define DEFAULT_RUNS 8u
#define DEFAULT_BYTES ((uint64_t)4 << 20)
#define LOCK_ATTEMPTS 100
#define LOCK_PAUSE_NS ((uint64_t)2000000)

struct record {
    ingot_allocator_t allocator;
    ingot_manifest_record_info_t info; /* its path points into this structure */
    /* number of users: the recorder, and threads that are saving the record; guarded by the recorder's lock, like all
     * fields below */
    size_t users;
    struct id_list ids; /* the bytes of each id are allocated separately */
    uint64_t bytes;     /* the size of a manifest with these ids */
    bool is_full;
    bool is_dirty;
    bool has_aged; /* true if the first save has raised the ages of earlier runs' ids */
    size_t path_size;
    char path[];
};

struct recorder {
    ingot_allocator_t allocator;
    struct process_lock lock;
    struct record *record;    /* guarded by `lock`; NULL: not recording */
    atomic_bool is_recording; /* if false, no need to lock; relaxed, because `record` is checked again under the lock */
};

/* Returns the storage's recorder, or NULL if nothing was ever recorded. */
static struct recorder *recorder_of(ingot_storage_t storage)
{
    return storage_get_part(storage, STORAGE_RECORDER);
}

static void destroy(struct record *record)
{
    const ingot_allocator_t allocator = record->allocator;
    for (size_t i = 0; i < record->ids.count; ++i)
        memory_free(&allocator, (void *)(uintptr_t)record->ids.ids[i].bytes, record->ids.ids[i].size);
    id_list_fini(&record->ids);
    memory_free(&allocator, record, sizeof(*record) + record->path_size);
}

static void forget(void *user)
{
    struct recorder *recorder = user;
    recorder->record = NULL;
    atomic_store_explicit(&recorder->is_recording, false, memory_order_relaxed);
}

static void lock(struct recorder *recorder)
{
    process_lock_take(&recorder->lock, forget, recorder);
}

/* Ends one use of the record, and unlocks the recorder. The last user frees the record. Requires the lock. */
static void unlock_and_release(struct recorder *recorder, struct record *record)
{
    const bool is_last = --record->users == 0;
    process_lock_give(&recorder->lock);
    if (is_last)
        destroy(record);
}

static void tell(const ingot_manifest_record_info_t *info, ingot_event_kind_t kind, ingot_status_t status, size_t bytes,
                 uint64_t started_ns, const char *reason)
{
    ingot_event_t event = INGOT_EVENT_INIT;
    if (info->on_event == NULL)
        return;
    event.kind = kind;
    event.status = status;
    event.bytes = bytes;
    event.duration_ns = files_steady_clock_ns() - started_ns;
    event.name = info->path;
    event.reason = reason;
    info->on_event(&event, info->on_event_user);
}

/* ---- noting ---- */

/* Notes an id. Requires the lock. Returns false if the id does not fit or there is no memory for it. */
static bool note(struct record *record, size_t id_size, const uint8_t *id)
{
    const uint64_t bytes = record->bytes + MANIFEST_ENTRY_OVERHEAD + id_size;
    if (id_list_find(&record->ids, id_size, id) != ID_LIST_NONE)
        return true;
    if (record->ids.count >= record->info.max_entries || bytes > record->info.max_bytes)
        return false;
    uint8_t *copy = memory_allocate(&record->allocator, id_size);
    if (copy == NULL)
        return false;
    memcpy(copy, id, id_size);
    if (id_list_add(&record->ids, id_size, copy, 0) != INGOT_SUCCESS) {
        memory_free(&record->allocator, copy, id_size);
        return false;
    }
    record->bytes = bytes;
    record->is_dirty = true;
    return true;
}

void recorder_note(ingot_storage_t storage, size_t id_size, const uint8_t *id)
{
    struct recorder *recorder = recorder_of(storage);
    if (recorder == NULL || !atomic_load_explicit(&recorder->is_recording, memory_order_relaxed))
        return;
    lock(recorder);
    struct record *record = recorder->record;
    if (record == NULL || note(record, id_size, id) || record->is_full) {
        process_lock_give(&recorder->lock);
        return;
    }
    record->is_full = true;
    ++record->users;
    process_lock_give(&recorder->lock);
    tell(&record->info, INGOT_EVENT_STORAGE_DEGRADED, INGOT_NO_SPACE, 0, files_steady_clock_ns(),
         "a program is not recorded: the manifest reached a limit, or memory ran out");
    lock(recorder);
    unlock_and_release(recorder, record);
}

/* ---- saving ---- */

/* Adds the old manifest's ids to `merged`, within the limits, but does not copy their bytes. At first, `merged` has the
 * ids that this run requested, and `bytes` is the size of a manifest with these ids. If `ages` is set, raises the ages
 * of the old ids. */
static ingot_status_t merge(const ingot_manifest_record_info_t *info, uint64_t bytes, struct id_list *merged,
                            const struct id_list *old, bool ages)
{
    ingot_status_t status = INGOT_SUCCESS;
    for (size_t i = 0; i < old->count && status == INGOT_SUCCESS; ++i) {
        const struct listed_id *listed = &old->ids[i];
        const uint32_t age = ages && listed->age < UINT32_MAX ? listed->age + 1 : listed->age;
        if (age > info->keep_runs || merged->count >= info->max_entries ||
            bytes + MANIFEST_ENTRY_OVERHEAD + listed->size > info->max_bytes ||
            id_list_find(merged, listed->size, listed->bytes) != ID_LIST_NONE)
            continue;
        bytes += MANIFEST_ENTRY_OVERHEAD + listed->size;
        status = id_list_add(merged, listed->size, listed->bytes, age);
    }
    return status;
}

static bool is_replaceable(ingot_status_t status)
{
    return status == INGOT_SUCCESS || status == INGOT_NOT_FOUND || status == INGOT_BLOB_TRUNCATED ||
           status == INGOT_BLOB_CORRUPT || status == INGOT_BLOB_VERSION;
}

/* Merges the ids with those in the current manifest, and writes the result to the replacement. The replacement has
 * begun, so no other process writes the file now. */
static ingot_status_t write_merged(const ingot_manifest_record_info_t *info, uint64_t bytes, struct id_list *ids,
                                   bool ages, const struct replacement *replacement, size_t *size)
{
    struct manifest old;
    uint8_t *encoded = NULL;
    manifest_init(&old, &ids->allocator);
    ingot_status_t status = manifest_read(&old, info->path);
    if (status != INGOT_SUCCESS && status != INGOT_NOT_FOUND)
        tell(info, INGOT_EVENT_STORAGE_DEGRADED, status, 0, files_steady_clock_ns(), ingot_last_error_detail());
    status = is_replaceable(status) ? merge(info, bytes, ids, &old.ids, ages) : status;
    if (status == INGOT_SUCCESS)
        status = manifest_encode(ids, &encoded, size);
    if (status == INGOT_SUCCESS)
        status = replacement_write(replacement, 0, *size, encoded);
    memory_free(&ids->allocator, encoded, *size);
    manifest_fini(&old);
    return status;
}

static ingot_status_t begin_replacement(struct replacement *replacement, const char *path)
{
    ingot_status_t status = replacement_begin(replacement, path);
    for (int i = 0; i < LOCK_ATTEMPTS && status == INGOT_BUSY; ++i) {
        files_pause_ns(LOCK_PAUSE_NS);
        status = replacement_begin(replacement, path);
    }
    return status;
}

static ingot_status_t save(const ingot_manifest_record_info_t *info, uint64_t bytes, struct id_list *ids, bool ages)
{
    struct replacement replacement;
    size_t size = 0;
    const uint64_t started_ns = files_steady_clock_ns();
    ingot_status_t status = begin_replacement(&replacement, info->path);
    if (status == INGOT_SUCCESS)
        status = replacement_end(&replacement, write_merged(info, bytes, ids, ages, &replacement, &size));
    tell(info, INGOT_EVENT_STORAGE_STORE, status, status == INGOT_SUCCESS ? size : 0, started_ns,
         status == INGOT_SUCCESS ? "" : ingot_last_error_detail());
    return status;
}

/* Copies a list, but not the bytes of its ids. Requires the lock. */
static ingot_status_t copy_list(const struct id_list *ids, struct id_list *copy)
{
    ingot_status_t status = INGOT_SUCCESS;
    for (size_t i = 0; i < ids->count && status == INGOT_SUCCESS; ++i)
        status = id_list_add(copy, ids->ids[i].size, ids->ids[i].bytes, 0);
    return status;
}

/* Saves a record. The caller must be one of its users. */
static ingot_status_t save_record(struct recorder *recorder, struct record *record)
{
    struct id_list ids;
    lock(recorder);
    if (!record->is_dirty) {
        process_lock_give(&recorder->lock);
        return INGOT_SUCCESS;
    }
    record->is_dirty = false;
    const bool ages = !record->has_aged;
    record->has_aged = true;
    const uint64_t bytes = record->bytes;
    id_list_init(&ids, &record->allocator);
    ingot_status_t status = copy_list(&record->ids, &ids);
    process_lock_give(&recorder->lock);
    if (status == INGOT_SUCCESS)
        status = save(&record->info, bytes, &ids, ages);
    id_list_fini(&ids);
    if (status == INGOT_SUCCESS)
        return status;
    lock(recorder);
    record->is_dirty = true;
    record->has_aged = record->has_aged && !ages;
    process_lock_give(&recorder->lock);
    return status;
}

ingot_status_t recorder_save(ingot_storage_t storage)
{
    struct recorder *recorder = recorder_of(storage);
    if (recorder == NULL)
        return INGOT_SUCCESS;
    lock(recorder);
    struct record *record = recorder->record;
    if (record != NULL)
        ++record->users;
    process_lock_give(&recorder->lock);
    if (record == NULL)
        return INGOT_SUCCESS;
    const ingot_status_t status = save_record(recorder, record);
    lock(recorder);
    unlock_and_release(recorder, record);
    return status;
}

/* ---- beginning and ending ---- */

static ingot_status_t make(struct record **record, const ingot_allocator_t *allocator,
                           const ingot_manifest_record_info_t *info)
{
    const size_t path_size = strlen(info->path) + 1;
    struct record *made = memory_allocate(allocator, sizeof(*made) + path_size);
    if (made == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a record");
    *made = (struct record){.allocator = *allocator, .info = *info, .users = 1, .bytes = MANIFEST_HEADER_SIZE};
    made->path_size = path_size;
    memcpy(made->path, info->path, path_size);
    made->info.path = made->path;
    id_list_init(&made->ids, allocator);
    *record = made;
    return INGOT_SUCCESS;
}

static ingot_status_t read_info(ingot_manifest_record_info_t *copy, const ingot_manifest_record_info_t *info)
{
    if (!STRUCT_READ(*copy, info))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the info's struct_size is missing");
    if (copy->path == NULL || copy->path[0] == '\0' || copy->max_entries > MANIFEST_MAX_ENTRIES ||
        copy->max_bytes > MANIFEST_MAX_SIZE)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "path is missing, or a limit exceeds the format's");
    copy->max_entries = copy->max_entries != 0 ? copy->max_entries : DEFAULT_ENTRIES;
    copy->keep_runs = copy->keep_runs != 0 ? copy->keep_runs : DEFAULT_RUNS;
    copy->max_bytes = copy->max_bytes != 0 ? copy->max_bytes : DEFAULT_BYTES;
    return INGOT_SUCCESS;
}

/* Saves and releases the current record, and sets a new one. */
static ingot_status_t replace_record(struct recorder *recorder, struct record *record)
{
    lock(recorder);
    struct record *before = recorder->record;
    recorder->record = record;
    atomic_store_explicit(&recorder->is_recording, record != NULL, memory_order_relaxed);
    process_lock_give(&recorder->lock);
    if (before == NULL)
        return INGOT_SUCCESS;
    const ingot_status_t status = save_record(recorder, before);
    lock(recorder);
    unlock_and_release(recorder, before);
    return status;
}

/* Saves the record after the last reference to the storage was released, and frees the recorder. */
static void end_recorder(void *part)
{
    struct recorder *recorder = part;
    const ingot_allocator_t allocator = recorder->allocator;
    (void)replace_record(recorder, NULL);
    process_lock_fini(&recorder->lock);
    memory_free(&allocator, recorder, sizeof(*recorder));
}

static ingot_status_t get_recorder(ingot_storage_t storage, struct recorder **recorder)
{
    *recorder = recorder_of(storage);
    if (*recorder != NULL)
        return INGOT_SUCCESS;
    struct recorder *made = memory_allocate(storage_allocator(storage), sizeof(*made));
    if (made == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a record");
    *made = (struct recorder){.allocator = *storage_allocator(storage)};
    const ingot_status_t status = process_lock_init(&made->lock);
    if (status != INGOT_SUCCESS) {
        memory_free(storage_allocator(storage), made, sizeof(*made));
        return status;
    }
    *recorder = storage_add_part(storage, STORAGE_RECORDER, made, end_recorder);
    if (*recorder != made)
        end_recorder(made);
    return INGOT_SUCCESS;
}

ingot_status_t ingot_manifest_record(ingot_storage_t storage, const ingot_manifest_record_info_t *info)
{
    ingot_manifest_record_info_t known;
    struct recorder *recorder;
    struct record *made = NULL;
    if (storage == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "storage is NULL");
    ingot_status_t status = info != NULL ? read_info(&known, info) : INGOT_SUCCESS;
    if (status == INGOT_SUCCESS)
        status = get_recorder(storage, &recorder);
    if (status == INGOT_SUCCESS && info != NULL)
        status = make(&made, storage_allocator(storage), &known);
    if (status != INGOT_SUCCESS)
        return status;
    return replace_record(recorder, made);
}

ingot_status_t ingot_manifest_save(ingot_storage_t storage)
{
    if (storage == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "storage is NULL");
    return recorder_save(storage);
}
