/*
 * recorder.c - records the ids that are requested from a storage, and saves them in a manifest.
 *
 * The lock is held while an id is noted or the record is copied, and never while a file is read or written, or an event
 * is reported: a thread that saves the record saves a copy. A forked child drops the record, because the parent saves
 * its own requests.
 */
#include "persist/prewarm/recorder.h"

#include <ingot/backend.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "persist/base/files.h"
#include "persist/base/memory.h"
#include "persist/base/replacement.h"
#include "persist/prewarm/manifest.h"
#include "persist/storage/common/events.h"
#include "persist/storage/common/part.h"
#include "persist/storage/common/serving.h"
#include "persist/storage/storage.h"
#include "util/struct_size.h"

#define DEFAULT_ENTRIES 4096u
#define DEFAULT_RUNS 8u
#define DEFAULT_BYTES ((uint64_t)4 << 20)

struct record {
    ingot_manifest_record_info_t info; /* its path points into this structure */
    struct manifest manifest;          /* this run's ids, whose age is 0 */
    bool is_full;                      /* an id did not fit, or there was no memory for it */
    bool has_told_full;
    bool is_dirty;
    bool has_aged; /* the first save has added one run to the ages of earlier runs' ids */
    size_t path_size;
    char path[];
};

struct recorder {
    struct storage_part_base base;
    struct record *record; /* guarded by the lock; NULL: not recording */
};

/* Returns the storage's recorder, or NULL if nothing was ever recorded. */
static struct recorder *recorder_of(ingot_storage_t storage)
{
    return storage_get_part(storage, STORAGE_RECORDER);
}

static void destroy_record(struct record *record)
{
    const ingot_allocator_t allocator = record->manifest.allocator;
    manifest_fini(&record->manifest);
    memory_free(&allocator, record, sizeof(*record) + record->path_size);
}

static ingot_status_t make_manifest_record(struct record **record, const ingot_allocator_t *allocator,
                                           const ingot_manifest_record_info_t *info)
{
    const size_t path_size = strlen(info->path) + 1;
    struct record *made = memory_allocate(allocator, sizeof(*made) + path_size);
    if (made == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a record");
    *made = (struct record){.info = *info, .path_size = path_size};
    memcpy(made->path, info->path, path_size);
    made->info.path = made->path;
    manifest_init(&made->manifest, allocator);
    *record = made;
    return INGOT_SUCCESS;
}

static void tell_record_event(const ingot_manifest_record_info_t *info, ingot_event_kind_t kind, ingot_status_t status,
                              size_t bytes, uint64_t started_ns, const char *reason)
{
    events_tell(info->on_event, info->on_event_user, kind, status, bytes, started_ns, info->path, reason);
}

/* ---- noting ---- */

/* Notes an id. Requires the lock. */
static void note_requested_id(struct record *record, size_t id_size, const uint8_t *id)
{
    const ingot_manifest_record_info_t *info = &record->info;
    if (manifest_find(&record->manifest, id_size, id) != MANIFEST_NONE)
        return;
    const bool is_noted = manifest_has_room(&record->manifest, id_size, info->max_entries, info->max_bytes) &&
                          manifest_add(&record->manifest, id_size, id, 0) == INGOT_SUCCESS;
    record->is_dirty = record->is_dirty || is_noted || !record->is_full;
    record->is_full = record->is_full || !is_noted;
}

void recorder_note(ingot_storage_t storage, size_t id_size, const uint8_t *id)
{
    struct recorder *recorder = recorder_of(storage);
    if (recorder == NULL)
        return;
    pthread_mutex_lock(&recorder->base.lock);
    if (recorder->record != NULL)
        note_requested_id(recorder->record, id_size, id);
    pthread_mutex_unlock(&recorder->base.lock);
}

/* ---- saving ---- */

/* Adds the ids of earlier runs to this run's, within the limits. If `ages` is set, raises their ages. */
static ingot_status_t merge_earlier_runs(const ingot_manifest_record_info_t *info, struct manifest *merged,
                                         const struct manifest *old, bool ages)
{
    ingot_status_t status = INGOT_SUCCESS;
    for (size_t i = 0; i < old->count && status == INGOT_SUCCESS; ++i) {
        const struct manifest_entry entry = manifest_get(old, i);
        const uint32_t age = ages && entry.age < UINT32_MAX ? entry.age + 1 : entry.age;
        if (age <= info->keep_runs && manifest_has_room(merged, entry.id_size, info->max_entries, info->max_bytes) &&
            manifest_find(merged, entry.id_size, entry.id) == MANIFEST_NONE)
            status = manifest_add(merged, entry.id_size, entry.id, age);
    }
    return status;
}

static bool is_manifest_replaceable(ingot_status_t status)
{
    return status == INGOT_SUCCESS || status == INGOT_NOT_FOUND || status == INGOT_BLOB_TRUNCATED ||
           status == INGOT_BLOB_CORRUPT || status == INGOT_BLOB_VERSION;
}

/* Merges the record with the current manifest, and writes the result to the replacement. The replacement has begun, so
 * no other process writes the file now. */
static ingot_status_t write_merged(struct record *record, const struct replacement *replacement)
{
    struct manifest old;
    struct manifest *merged = &record->manifest;
    manifest_init(&old, &merged->allocator);
    ingot_status_t status = manifest_read(&old, record->path);
    if (status != INGOT_SUCCESS && status != INGOT_NOT_FOUND)
        tell_record_event(&record->info, INGOT_EVENT_STORAGE_DEGRADED, status, 0, files_steady_clock_ns(),
                          ingot_last_error_detail());
    status =
        is_manifest_replaceable(status) ? merge_earlier_runs(&record->info, merged, &old, !record->has_aged) : status;
    if (status == INGOT_SUCCESS)
        status = manifest_complete(merged);
    if (status == INGOT_SUCCESS)
        status = replacement_write(replacement, 0, merged->bytes.size, merged->bytes.bytes);
    manifest_fini(&old);
    return status;
}

/* Saves a record or a copy of one, which only this thread uses, and destroys it. */
static ingot_status_t save_record(struct record *record)
{
    struct replacement replacement;
    ingot_status_t status = INGOT_SUCCESS;
    const uint64_t started_ns = files_steady_clock_ns();
    if (record->is_full && !record->has_told_full)
        tell_record_event(&record->info, INGOT_EVENT_STORAGE_DEGRADED, INGOT_NO_SPACE, 0, started_ns,
                          "some programs are not recorded: the manifest reached a limit, or memory ran out");
    if (record->is_dirty) {
        status = replacement_begin_patiently(&replacement, record->path);
        if (status == INGOT_SUCCESS)
            status = replacement_end(&replacement, write_merged(record, &replacement));
        tell_record_event(&record->info, INGOT_EVENT_STORAGE_STORE, status,
                          status == INGOT_SUCCESS ? record->manifest.bytes.size : 0, started_ns,
                          status == INGOT_SUCCESS ? "" : ingot_last_error_detail());
    }
    destroy_record(record);
    return status;
}

/* Copies a record. Requires the lock. */
static ingot_status_t copy_record(const struct record *record, struct record **copy)
{
    ingot_status_t status = make_manifest_record(copy, &record->manifest.allocator, &record->info);
    if (status != INGOT_SUCCESS)
        return status;
    (*copy)->is_full = record->is_full;
    (*copy)->has_told_full = record->has_told_full;
    (*copy)->is_dirty = record->is_dirty;
    (*copy)->has_aged = record->has_aged;
    status = merge_earlier_runs(&record->info, &(*copy)->manifest, &record->manifest, false);
    if (status != INGOT_SUCCESS)
        destroy_record(*copy);
    return status;
}

ingot_status_t recorder_save(ingot_storage_t storage)
{
    struct recorder *recorder = recorder_of(storage);
    struct record *copy = NULL;
    if (recorder == NULL)
        return INGOT_SUCCESS;
    pthread_mutex_lock(&recorder->base.lock);
    struct record *record = recorder->record;
    ingot_status_t status = record != NULL && record->is_dirty ? copy_record(record, &copy) : INGOT_SUCCESS;
    if (copy == NULL || status != INGOT_SUCCESS) {
        pthread_mutex_unlock(&recorder->base.lock);
        return status;
    }
    const bool ages = !record->has_aged;
    record->is_dirty = false;
    record->has_aged = true;
    record->has_told_full = record->is_full;
    pthread_mutex_unlock(&recorder->base.lock);
    status = save_record(copy);
    if (status == INGOT_SUCCESS)
        return status;
    pthread_mutex_lock(&recorder->base.lock);
    if (recorder->record == record) { /* it was not replaced meanwhile */
        record->is_dirty = true;
        record->has_aged = record->has_aged && !ages;
    }
    pthread_mutex_unlock(&recorder->base.lock);
    return status;
}

/* ---- beginning and ending ---- */

static ingot_status_t read_record_info(ingot_manifest_record_info_t *copy, const ingot_manifest_record_info_t *info)
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

/* Sets a new record, and saves and destroys the one before. */
static ingot_status_t switch_manifest_record(struct recorder *recorder, struct record *record)
{
    pthread_mutex_lock(&recorder->base.lock);
    struct record *before = recorder->record;
    recorder->record = record;
    pthread_mutex_unlock(&recorder->base.lock);
    return before != NULL ? save_record(before) : INGOT_SUCCESS;
}

/* Saves the record after the last reference to the storage was released. */
static void end_recorder(void *part)
{
    (void)switch_manifest_record(part, NULL);
}

ingot_status_t ingot_manifest_record(ingot_storage_t storage, const ingot_manifest_record_info_t *info)
{
    static const struct storage_part_kind kind = {.size = sizeof(struct recorder), .end = end_recorder};
    ingot_manifest_record_info_t known;
    void *recorder;
    struct record *made = NULL;
    ingot_status_t status = storage_check(storage);
    if (status == INGOT_SUCCESS && info != NULL)
        status = read_record_info(&known, info);
    if (status == INGOT_SUCCESS)
        status = storage_make_part(storage, STORAGE_RECORDER, &kind, &recorder);
    if (status == INGOT_SUCCESS && info != NULL)
        status = make_manifest_record(&made, storage_allocator(storage), &known);
    if (status != INGOT_SUCCESS)
        return status;
    return switch_manifest_record(recorder, made);
}
