/*
 * prewarm.c - reads the blobs of a manifest before they are requested.
 *
 * A thread reads them in the manifest's order. If the storage can load several blobs at once, the thread asks it for a
 * group at a time, because single loads over a network mostly wait for answers. The thread does not call drivers, and
 * knows neither programs nor contexts. ahead.c gives the blobs to the storage's loads.
 *
 * The storage may be an application's own, so the thread stops reading when the process ends (process_end.h).
 */
#include <ingot/prewarm.h>

#include <ingot/backend.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "persist/base/files.h"
#include "persist/base/kept_error.h"
#include "persist/base/memory.h"
#include "persist/prewarm/ahead.h"
#include "persist/storage/common/process_end.h"
#include "persist/storage/storage.h"
#include "util/cancellation.h"
#include "util/struct_size.h"

#define DEFAULT_BYTES ((uint64_t)256 << 20)
#define GROUP 32u

/* ---- reading ---- */

struct group {
    struct ingot_prewarm *prewarm;
    size_t count;
    size_t numbers[GROUP]; /* indices of the items */
    ingot_storage_id_t ids[GROUP];
};

/* Marks the next items as asked for. */
static void collect(struct group *group)
{
    struct ingot_prewarm *prewarm = group->prewarm;
    const struct manifest *manifest = &prewarm->manifest;
    const size_t most = storage_loads_many(prewarm->storage) ? GROUP : 1;
    ahead_lock(prewarm->ahead);
    for (; prewarm->next_item < manifest->count && group->count < most && !prewarm->is_ending; ++prewarm->next_item) {
        struct ahead_item *item = &prewarm->items[prewarm->next_item];
        if (item->state != AHEAD_WAITING)
            continue;
        item->state = AHEAD_ASKED;
        const struct manifest_entry entry = manifest_get(manifest, prewarm->next_item);
        group->ids[group->count] = (ingot_storage_id_t){entry.id_size, entry.id};
        group->numbers[group->count++] = prewarm->next_item;
    }
    ahead_unlock(prewarm->ahead);
}

/* Gives a blob to its item, unless the item is gone, or the blob would exceed the limit. */
static void keep(struct ingot_prewarm *prewarm, struct ahead_item *item, ingot_status_t status, ingot_buffer_t *blob)
{
    ingot_prewarm_progress_t *progress = &prewarm->progress;
    if (item->state != AHEAD_ASKED)
        return;
    item->state = AHEAD_GONE;
    if (status == INGOT_NOT_FOUND) {
        ++progress->missing;
    } else if (status != INGOT_SUCCESS) {
        ++progress->failed;
    } else if (blob->size > prewarm->max_bytes - progress->bytes) {
        prewarm->is_ending = true;
    } else {
        item->blob = *blob;
        item->state = AHEAD_READY;
        ++progress->loaded;
        progress->bytes += blob->size;
        *blob = (ingot_buffer_t)INGOT_BUFFER_INIT;
    }
}

static ingot_status_t on_loaded(size_t index, ingot_status_t status, ingot_buffer_t *blob, void *user)
{
    const struct group *group = user;
    struct ingot_prewarm *prewarm = group->prewarm;
    ingot_buffer_t rest = INGOT_BUFFER_INIT;
    if (status == INGOT_SUCCESS)
        rest = *blob;
    ahead_lock(prewarm->ahead);
    keep(prewarm, &prewarm->items[group->numbers[index]], status, &rest);
    const bool goes_on = !prewarm->is_ending;
    pthread_cond_broadcast(&prewarm->ahead->changed);
    ahead_unlock(prewarm->ahead);
    memory_release_buffer(&rest);
    if (!goes_on || !process_end_enter())
        return INGOT_BUSY;
    process_end_leave();
    return INGOT_SUCCESS;
}

/* Gives up the items that the storage did not deliver, because the prewarm is ending. */
static void leave_rest(const struct group *group)
{
    struct ingot_prewarm *prewarm = group->prewarm;
    ahead_lock(prewarm->ahead);
    for (size_t i = 0; i < group->count; ++i) {
        struct ahead_item *item = &prewarm->items[group->numbers[i]];
        if (item->state == AHEAD_ASKED)
            item->state = AHEAD_GONE;
    }
    pthread_cond_broadcast(&prewarm->ahead->changed);
    ahead_unlock(prewarm->ahead);
}

/* Reads the next group. Returns false if there is none. */
static bool read_group(struct ingot_prewarm *prewarm)
{
    struct group group = {.prewarm = prewarm};
    if (!process_end_enter())
        return false;
    collect(&group);
    if (group.count != 0)
        (void)ingot_storage_load_many(prewarm->storage, group.count, group.ids, on_loaded, &group);
    process_end_leave();
    leave_rest(&group);
    return group.count != 0;
}

static void tell_end(const struct ingot_prewarm *prewarm)
{
    char text[192];
    ahead_lock(prewarm->ahead); /* requests still take blobs */
    const ingot_prewarm_progress_t progress = prewarm->progress;
    ahead_unlock(prewarm->ahead);
    (void)snprintf(text, sizeof(text), "%llu of %llu blobs read; %llu missing; %llu failed; %llu overtaken",
                   (unsigned long long)progress.loaded, (unsigned long long)progress.total,
                   (unsigned long long)progress.missing, (unsigned long long)progress.failed,
                   (unsigned long long)progress.overtaken);
    storage_tell(prewarm->storage, INGOT_EVENT_PREWARM, INGOT_SUCCESS, progress.bytes, prewarm->start_ns, text);
}

static void *run(void *user)
{
    struct ingot_prewarm *prewarm = user;
    while (read_group(prewarm)) {
    }
    tell_end(prewarm);
    ahead_lock(prewarm->ahead);
    prewarm->is_running = false;
    pthread_cond_broadcast(&prewarm->ahead->changed);
    ahead_unlock(prewarm->ahead);
    return NULL;
}

/* ---- starting ---- */

static ingot_status_t read_info(ingot_prewarm_info_t *copy, const ingot_prewarm_info_t *info)
{
    if (!STRUCT_READ(*copy, info))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "info or its struct_size is missing");
    if (copy->manifest == NULL || copy->manifest[0] == '\0')
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the manifest is missing");
    return INGOT_SUCCESS;
}

static void destroy(struct ingot_prewarm *prewarm)
{
    const ingot_allocator_t allocator = prewarm->allocator;
    const size_t count = prewarm->manifest.count;
    for (size_t i = 0; i < count && prewarm->items != NULL; ++i) {
        if (prewarm->items[i].state == AHEAD_READY)
            memory_release_buffer(&prewarm->items[i].blob);
    }
    memory_free(&allocator, prewarm->items, count * sizeof(*prewarm->items));
    manifest_fini(&prewarm->manifest);
    memory_free(&allocator, prewarm, sizeof(*prewarm));
}

/* Reads the manifest. If it cannot be read or has no ids, there is nothing to read ahead, which is not a failure.
 * Before the first run has ended, there is no manifest. */
static ingot_status_t read_manifest(struct ingot_prewarm *prewarm, const char *path)
{
    ingot_prewarm_progress_t *progress = &prewarm->progress;
    progress->manifest_status = manifest_read(&prewarm->manifest, path);
    if (progress->manifest_status != INGOT_SUCCESS && progress->manifest_status != INGOT_NOT_FOUND)
        storage_tell(prewarm->storage, INGOT_EVENT_STORAGE_DEGRADED, progress->manifest_status, 0, prewarm->start_ns,
                     ingot_last_error_detail());
    const size_t count = prewarm->manifest.count;
    progress->total = count;
    if (count == 0)
        return INGOT_SUCCESS;
    prewarm->items = memory_allocate(&prewarm->allocator, count * sizeof(*prewarm->items));
    if (prewarm->items == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %zu blobs", count);
    for (size_t i = 0; i < count; ++i)
        prewarm->items[i].state = AHEAD_WAITING;
    return INGOT_SUCCESS;
}

/* Starts the thread, which blocks all signals, because signals belong to the application. Requires the lock. */
static bool start_thread(struct ingot_prewarm *prewarm)
{
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    prewarm->is_running = pthread_create(&prewarm->thread, NULL, run, prewarm) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return prewarm->is_running;
}

static ingot_status_t start(struct ingot_prewarm *prewarm)
{
    process_end_watch();
    ahead_lock(prewarm->ahead);
    const bool is_started = start_thread(prewarm);
    if (is_started)
        ahead_add(prewarm->ahead, prewarm);
    ahead_unlock(prewarm->ahead);
    return is_started ? INGOT_SUCCESS : ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no thread to read blobs ahead");
}

ingot_status_t ingot_prewarm_start(ingot_prewarm_t *prewarm, ingot_storage_t storage, const ingot_prewarm_info_t *info)
{
    ingot_prewarm_info_t known;
    if (prewarm == NULL || storage == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "prewarm or storage is NULL");
    ingot_status_t status = read_info(&known, info);
    if (status != INGOT_SUCCESS)
        return status;
    const ingot_allocator_t *allocator = storage_allocator(storage);
    struct ingot_prewarm *made = memory_allocate(allocator, sizeof(*made));
    if (made == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a prewarm");
    *made = (struct ingot_prewarm){.allocator = *allocator, .storage = storage, .process = files_process()};
    made->start_ns = files_steady_clock_ns();
    made->max_bytes = known.max_bytes != 0 ? known.max_bytes : DEFAULT_BYTES;
    made->progress = (ingot_prewarm_progress_t)INGOT_PREWARM_PROGRESS_INIT;
    manifest_init(&made->manifest, allocator);
    status = ahead_make(storage, &made->ahead);
    if (status == INGOT_SUCCESS)
        status = read_manifest(made, known.manifest);
    if (status == INGOT_SUCCESS)
        status = start(made);
    if (status != INGOT_SUCCESS) {
        destroy(made);
        return status;
    }
    ingot_storage_retain(storage);
    *prewarm = made;
    return INGOT_SUCCESS;
}

/* ---- ending ---- */

static bool is_ours(const struct ingot_prewarm *prewarm)
{
    return prewarm->process == files_process();
}

ingot_status_t ingot_prewarm_wait(ingot_prewarm_t prewarm, ingot_prewarm_progress_t *progress)
{
    if (prewarm == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "prewarm is NULL");
    if (progress != NULL && !STRUCT_IS_SET(progress))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the struct_size of progress is not set");
    if (pthread_equal(prewarm->thread, pthread_self()) && is_ours(prewarm))
        return ingot_set_error_detail(INGOT_BUSY, "a prewarm's thread cannot wait for its own end");
    const bool locks = is_ours(prewarm);
    if (locks)
        ahead_lock(prewarm->ahead);
    while (locks && prewarm->is_running)
        process_lock_wait(&prewarm->ahead->lock, &prewarm->ahead->changed);
    (void)STRUCT_WRITE(progress, prewarm->progress);
    if (locks)
        ahead_unlock(prewarm->ahead);
    return INGOT_SUCCESS;
}

static void end(struct ingot_prewarm *prewarm)
{
    ahead_lock(prewarm->ahead);
    prewarm->is_ending = true;
    ahead_unlock(prewarm->ahead);
    const int before = cancellation_hold();
    (void)pthread_join(prewarm->thread, NULL);
    cancellation_allow(before);
    ahead_lock(prewarm->ahead);
    ahead_remove(prewarm->ahead, prewarm);
    ahead_unlock(prewarm->ahead);
    destroy(prewarm);
}

void ingot_prewarm_release(ingot_prewarm_t prewarm)
{
    if (prewarm == NULL)
        return;
    struct kept_error kept;
    ingot_storage_t storage = prewarm->storage;
    kept_error_save(&kept);
    if (is_ours(prewarm))
        end(prewarm);
    /* otherwise this is a forked child, in which the parent's blobs are leaked */
    ingot_storage_release(storage);
    kept_error_restore(&kept);
}
