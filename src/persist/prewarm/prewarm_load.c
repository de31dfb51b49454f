/*
 * prewarm_load.c - runs in each prewarming thread: loads one item after another until none is left or the prewarm ends.
 *
 * No lock is held while the storage or the driver loads, or during callbacks.
 */
#include "persist/prewarm/prewarm_load.h"

#include <ingot/backend.h>
#include <stdio.h>

#include "persist/base/files.h"
#include "persist/base/memory.h"
#include "persist/prewarm/prewarm_fetch.h"
#include "persist/prewarm/prewarm_list.h"
#include "persist/storage/common/events.h"
#include "persist/storage/common/process_end.h"
#include "persist/storage/common/serving.h"
#include "persist/storage/program_blob.h"

/* ---- under the lock ---- */

static void end(struct ingot_prewarm *prewarm, ingot_prewarm_state_t state)
{
    if (!prewarm->is_ending)
        prewarm->progress.state = state;
    prewarm->is_ending = true;
}

/* Skips items that callers requested before their turn. The caller holds the lock, which this function gives up
 * temporarily whenever it releases a blob. */
static void skip_items(struct ingot_prewarm *prewarm)
{
    while (prewarm->next_item < prewarm->manifest.ids.count &&
           prewarm->items[prewarm->next_item].state != PREWARM_WAITING) {
        struct prewarm_blob blob = prewarm_fetch_take(prewarm, prewarm->next_item++);
        if (blob.desc == NULL)
            continue;
        prewarm_list_unlock(prewarm->list);
        prewarm_blob_release(&blob);
        prewarm_list_lock(prewarm->list);
    }
}

/* Returns the index of the next item, or ID_LIST_NONE. Requires the lock, but releases it as skip_items does. */
static size_t find_item(struct ingot_prewarm *prewarm)
{
    const uint64_t max_time_ns = prewarm->info.max_time_ns;
    skip_items(prewarm);
    if (prewarm->is_ending || prewarm->next_item == prewarm->manifest.ids.count)
        return ID_LIST_NONE;
    if (max_time_ns != 0 && files_steady_clock_ns() - prewarm->start_ns > max_time_ns) {
        end(prewarm, INGOT_PREWARM_OUT_OF_TIME);
        return ID_LIST_NONE;
    }
    return prewarm->next_item;
}

/* Marks the next item as loading, and takes the blob that was loaded for it ahead of its turn, if any. Returns the
 * item's index, or ID_LIST_NONE. */
static size_t begin_item(struct ingot_prewarm *prewarm, const struct prewarm_thread *self, struct prewarm_blob *blob)
{
    size_t number;
    do {
        number = find_item(prewarm);
    } while (number != ID_LIST_NONE && prewarm_fetch(prewarm, self, number));
    if (number == ID_LIST_NONE)
        return number;
    prewarm->items[number].state = PREWARM_LOADING;
    ingot_work_begin(&prewarm->items[number].work);
    *blob = prewarm_fetch_take(prewarm, number);
    prewarm->next_item = number + 1;
    return number;
}

static void finish_item(struct ingot_prewarm *prewarm, size_t number, enum prewarm_outcome outcome,
                        ingot_program_t program)
{
    ingot_prewarm_progress_t *progress = &prewarm->progress;
    struct prewarm_item *item = &prewarm->items[number];
    item->state = outcome == PREWARM_LOADED ? PREWARM_READY : PREWARM_GONE;
    item->program = program;
    ingot_work_end(&item->work);
    switch (outcome) {
    case PREWARM_LOADED: ++progress->loaded; break;
    case PREWARM_STALE: ++progress->stale; break;
    case PREWARM_MISSING: ++progress->missing; break;
    case PREWARM_FAILED: ++progress->failed; break;
    case PREWARM_TOO_LARGE: end(prewarm, INGOT_PREWARM_OUT_OF_BYTES); break;
    }
    progress->done += outcome != PREWARM_TOO_LARGE;
    pthread_cond_broadcast(&prewarm->list->loaded);
}

static bool reserve_bytes(struct ingot_prewarm *prewarm, size_t size)
{
    const uint64_t limit = prewarm->info.max_bytes;
    prewarm_list_lock(prewarm->list);
    const bool fits = limit == 0 || (prewarm->progress.bytes <= limit && size <= limit - prewarm->progress.bytes);
    if (fits)
        prewarm->progress.bytes += size;
    prewarm_list_unlock(prewarm->list);
    return fits;
}

/* ---- without the lock ---- */

/* Creates the program from its blob. Fails if the process is ending, because this is a thread of Ingot's own, and the
 * driver may be shutting down. */
static bool make_program(struct ingot_prewarm *prewarm, const struct listed_id *id, ingot_program_desc_t desc,
                         ingot_buffer_t *blob, ingot_program_t *program)
{
    if (!process_end_enter())
        return false;
    const ingot_status_t status = storage_make_program(prewarm->storage, program, desc, id->size, id->bytes, blob);
    process_end_leave();
    return status == INGOT_SUCCESS;
}

static enum prewarm_outcome use_blob(struct ingot_prewarm *prewarm, const struct listed_id *id,
                                     struct prewarm_blob *blob, ingot_program_t *program)
{
    if (blob->status != INGOT_SUCCESS)
        return blob->status == INGOT_NOT_FOUND ? PREWARM_MISSING : PREWARM_FAILED;
    if (!reserve_bytes(prewarm, blob->bytes.size))
        return PREWARM_TOO_LARGE;
    return make_program(prewarm, id, blob->desc, &blob->bytes, program) ? PREWARM_LOADED : PREWARM_FAILED;
}

/* Creates the item's descriptor and loads its blob. If the load cannot begin, sets *outcome and returns false.
 * Otherwise returns true, and blob->status is the status of the load. */
static bool load_blob(struct ingot_prewarm *prewarm, const struct listed_id *id, struct prewarm_blob *blob,
                      enum prewarm_outcome *outcome)
{
    const uint64_t started_ns = files_steady_clock_ns();
    *outcome = PREWARM_MISSING;
    if (!storage_serves(prewarm->storage, prewarm->context))
        return false;
    *outcome = PREWARM_FAILED;
    if (!process_end_enter())
        return false;
    const ingot_status_t status =
        ingot_program_desc_create_from_cache_blob_id(&blob->desc, prewarm->context, id->size, id->bytes);
    process_end_leave();
    if (status == INGOT_SUCCESS) {
        blob->status = storage_load_blob(prewarm->storage, prewarm->context, id->size, id->bytes, &blob->bytes);
        return true;
    }
    events_tell_context(prewarm->context, INGOT_EVENT_STORAGE_DEGRADED, status, 0, started_ns,
                        ingot_last_error_detail());
    if (status == INGOT_BLOB_STALE)
        *outcome = PREWARM_STALE;
    return false;
}

/* Loads an item's program, from the blob that was loaded ahead or from the storage. Releases the blob. */
static enum prewarm_outcome load(struct ingot_prewarm *prewarm, const struct listed_id *id, struct prewarm_blob *blob,
                                 ingot_program_t *program)
{
    enum prewarm_outcome outcome = PREWARM_MISSING;
    if (blob->desc != NULL || load_blob(prewarm, id, blob, &outcome))
        outcome = use_blob(prewarm, id, blob, program);
    prewarm_blob_release(blob);
    return outcome;
}

/* Reports progress. Requires the lock, but releases it during the callback. */
static void tell_progress(struct ingot_prewarm *prewarm)
{
    const ingot_prewarm_progress_t progress = prewarm->progress;
    if (prewarm->info.on_progress == NULL)
        return;
    prewarm_list_unlock(prewarm->list);
    const bool goes_on = prewarm->info.on_progress(&progress, prewarm->info.on_progress_user) != 0;
    prewarm_list_lock(prewarm->list);
    if (!goes_on)
        end(prewarm, INGOT_PREWARM_CANCELLED);
}

static void tell_end(const struct ingot_prewarm *prewarm, const ingot_prewarm_progress_t *progress)
{
    static const char *const states[] = {"running", "complete", "canceled", "out of time", "out of bytes"};
    char text[192];
    (void)snprintf(text, sizeof(text), "%s: %llu of %llu loaded; %llu stale; %llu missing; %llu failed; %llu overtaken",
                   states[progress->state], (unsigned long long)progress->loaded, (unsigned long long)progress->total,
                   (unsigned long long)progress->stale, (unsigned long long)progress->missing,
                   (unsigned long long)progress->failed, (unsigned long long)progress->overtaken);
    events_tell_context(prewarm->context, INGOT_EVENT_PREWARM, INGOT_SUCCESS, (size_t)progress->bytes,
                        prewarm->start_ns, text);
}

void *prewarm_run(void *user)
{
    struct prewarm_thread *self = user;
    struct ingot_prewarm *prewarm = self->prewarm;
    const struct ingot_context *before = events_enter(prewarm->context);
    struct prewarm_blob blob = {.desc = NULL};
    size_t number;
    prewarm_list_lock(prewarm->list);
    ingot_work_begin(&self->work);
    while ((number = begin_item(prewarm, self, &blob)) != ID_LIST_NONE) {
        ingot_program_t program = NULL;
        prewarm_list_unlock(prewarm->list);
        const enum prewarm_outcome outcome = load(prewarm, &prewarm->manifest.ids.ids[number], &blob, &program);
        prewarm_list_lock(prewarm->list);
        finish_item(prewarm, number, outcome, program);
        tell_progress(prewarm);
    }
    if (prewarm->active_count == 1) { /* the last thread: no item is loading anymore */
        end(prewarm, INGOT_PREWARM_COMPLETE);
        const ingot_prewarm_progress_t progress = prewarm->progress;
        prewarm_list_unlock(prewarm->list);
        if (prewarm->fetches_ahead)
            prewarm_fetch_drop(prewarm);
        tell_end(prewarm, &progress);
        prewarm_list_lock(prewarm->list);
    }
    --prewarm->active_count;
    self->runs = false;
    ingot_work_end(&self->work);
    pthread_cond_broadcast(&prewarm->list->changed);
    prewarm_list_unlock(prewarm->list);
    events_leave(before);
    return NULL;
}
