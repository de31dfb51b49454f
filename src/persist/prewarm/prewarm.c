/*
 * prewarm.c - reads the blobs of a manifest before they are requested.
 *
 * A thread reads them in the manifest's order. If the storage can load several blobs at once, the thread asks it for a
 * group at a time, because single loads over a network mostly wait for answers. The thread does not call drivers, and
 * knows neither programs nor contexts.
 *
 * An item is an id of a prewarm's manifest. A load takes the blob of an item that is ready. An item that is requested
 * before its turn, stored or removed is gone: the prewarm does not read it, or drops its blob. A load waits for a blob
 * that is being read, which costs less than reading it once more. It waits for at most MAX_WAIT_NS, because an event
 * callback in the prewarm's thread may itself wait for the loading thread.
 *
 * The lock is held for a few assignments, and never while a blob is read or released. In a forked child, the storage
 * is off, and the prewarms are leaked.
 *
 * The storage may be an application's own, so the thread stops reading when the process ends (process_end.h).
 */
#include <ingot/prewarm.h>

#include <ingot/backend.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "persist/base/files.h"
#include "persist/base/kept_error.h"
#include "persist/base/memory.h"
#include "persist/prewarm/manifest.h"
#include "persist/storage/common/events.h"
#include "persist/storage/common/kinds.h"
#include "persist/storage/common/part.h"
#include "persist/storage/common/process_end.h"
#include "persist/storage/common/serving.h"
#include "persist/storage/storage.h"
#include "util/nanoseconds.h"
#include "util/process_number.h"
#include "util/struct_size.h"
#include "util/thread.h"

#define DEFAULT_BYTES ((uint64_t)256 << 20)
#define GROUP 32u
#define MAX_WAIT_NS NS_PER_SECOND

enum ahead_state { AHEAD_WAITING = 0, AHEAD_ASKED, AHEAD_READY, AHEAD_GONE };

struct ahead_item {
    enum ahead_state state;
    ingot_buffer_t blob; /* set in AHEAD_READY */
};

/* A prewarm. The list's lock guards all fields that change after its thread has started. */
struct ingot_prewarm {
    struct ingot_prewarm *next;
    ingot_allocator_t allocator;
    ingot_storage_t storage; /* a reference */
    struct ahead *ahead;
    unsigned long process; /* process_number() at the start; the prewarm is useless in a forked child */
    uint64_t start_ns;
    uint64_t max_bytes;
    struct manifest manifest;
    struct ahead_item *items; /* one per entry of the manifest */
    size_t next_item;         /* used only by the prewarm's thread */
    ingot_prewarm_progress_t progress;
    bool is_ending;  /* true: no further blob is read */
    bool is_running; /* true: its thread has not ended yet */
    pthread_t thread;
};

/* The part of a storage that holds its running prewarms and the blobs that they have read ahead. */
struct ahead {
    struct storage_ahead calls;  /* first: the storage calls its functions */
    pthread_cond_t changed;      /* signaled when an item changes, or a thread ends */
    struct ingot_prewarm *first; /* guarded by the lock */
};

/* ---- the blobs of a storage, for its loads ---- */

static void lock_ahead(struct ahead *ahead)
{
    pthread_mutex_lock(&ahead->calls.base.lock);
}

static void unlock_ahead(struct ahead *ahead)
{
    pthread_mutex_unlock(&ahead->calls.base.lock);
}

/* Adds or removes a prewarm. Requires the lock. */
static void add_prewarm(struct ahead *ahead, struct ingot_prewarm *prewarm)
{
    prewarm->next = ahead->first;
    ahead->first = prewarm;
}

static void remove_prewarm(struct ahead *ahead, const struct ingot_prewarm *prewarm)
{
    struct ingot_prewarm **place = &ahead->first;
    while (*place != prewarm)
        place = &(*place)->next;
    *place = prewarm->next;
}

/* Finds an item of this id that is not gone. Requires the lock. */
static struct ahead_item *find_ahead_item(const struct ahead *ahead, size_t id_size, const uint8_t *id,
                                          struct ingot_prewarm **prewarm)
{
    for (*prewarm = ahead->first; *prewarm != NULL; *prewarm = (*prewarm)->next) {
        const size_t number = manifest_find(&(*prewarm)->manifest, id_size, id);
        if (number != MANIFEST_NONE && (*prewarm)->items[number].state != AHEAD_GONE)
            return &(*prewarm)->items[number];
    }
    return NULL;
}

static bool may_wait_for_blob(const struct ingot_prewarm *prewarm, uint64_t until_ns)
{
    return files_steady_clock_ns() < until_ns && !pthread_equal(prewarm->thread, pthread_self());
}

static bool take_blob_read_ahead(struct storage_ahead *base, size_t id_size, const uint8_t *id, ingot_buffer_t *blob)
{
    struct ahead *ahead = (struct ahead *)base;
    struct ingot_prewarm *prewarm;
    struct ahead_item *item;
    bool is_taken = false;
    const uint64_t until_ns = files_steady_clock_ns() + MAX_WAIT_NS;
    lock_ahead(ahead);
    while (!is_taken && (item = find_ahead_item(ahead, id_size, id, &prewarm)) != NULL) {
        if (item->state == AHEAD_ASKED && may_wait_for_blob(prewarm, until_ns)) {
            thread_wait(&ahead->changed, &ahead->calls.base.lock, until_ns);
            continue; /* the prewarm may be gone */
        }
        is_taken = item->state == AHEAD_READY;
        if (is_taken)
            *blob = item->blob;
        *(is_taken ? &prewarm->progress.taken : &prewarm->progress.overtaken) += 1;
        item->state = AHEAD_GONE;
    }
    unlock_ahead(ahead);
    return is_taken;
}

static void drop_blob_read_ahead(struct storage_ahead *base, size_t id_size, const uint8_t *id)
{
    struct ahead *ahead = (struct ahead *)base;
    struct ingot_prewarm *prewarm;
    struct ahead_item *item;
    lock_ahead(ahead);
    while ((item = find_ahead_item(ahead, id_size, id, &prewarm)) != NULL) {
        ingot_buffer_t blob = INGOT_BUFFER_INIT;
        if (item->state == AHEAD_READY)
            blob = item->blob;
        else
            ++prewarm->progress.overtaken;
        item->state = AHEAD_GONE;
        unlock_ahead(ahead);
        memory_release_buffer(&blob);
        lock_ahead(ahead);
    }
    unlock_ahead(ahead);
}

static ingot_status_t begin_ahead(void *part, ingot_storage_t storage)
{
    struct ahead *ahead = part;
    (void)storage;
    ahead->calls.take = take_blob_read_ahead;
    ahead->calls.drop = drop_blob_read_ahead;
    pthread_cond_init(&ahead->changed, NULL);
    return INGOT_SUCCESS;
}

/* The list is empty, because each prewarm holds a reference to the storage. */
static void end_ahead(void *part)
{
    pthread_cond_destroy(&((struct ahead *)part)->changed);
}

/* ---- reading ---- */

struct group {
    struct ingot_prewarm *prewarm;
    size_t count;
    size_t numbers[GROUP]; /* indices of the items */
    ingot_storage_id_t ids[GROUP];
};

/* Marks the next items as asked for. */
static void fill_prewarm_group(struct group *group)
{
    struct ingot_prewarm *prewarm = group->prewarm;
    const struct manifest *manifest = &prewarm->manifest;
    const size_t most = storage_loads_many(prewarm->storage) ? GROUP : 1;
    lock_ahead(prewarm->ahead);
    for (; prewarm->next_item < manifest->count && group->count < most && !prewarm->is_ending; ++prewarm->next_item) {
        struct ahead_item *item = &prewarm->items[prewarm->next_item];
        if (item->state != AHEAD_WAITING)
            continue;
        item->state = AHEAD_ASKED;
        const struct manifest_entry entry = manifest_get(manifest, prewarm->next_item);
        group->ids[group->count] = (ingot_storage_id_t){entry.id_size, entry.id};
        group->numbers[group->count++] = prewarm->next_item;
    }
    unlock_ahead(prewarm->ahead);
}

/* Gives a blob to its item, unless the item is gone, or the blob would exceed the limit. */
static void keep_item_blob(struct ingot_prewarm *prewarm, struct ahead_item *item, ingot_status_t status,
                           ingot_buffer_t *blob)
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
    lock_ahead(prewarm->ahead);
    keep_item_blob(prewarm, &prewarm->items[group->numbers[index]], status, &rest);
    const bool goes_on = !prewarm->is_ending;
    pthread_cond_broadcast(&prewarm->ahead->changed);
    unlock_ahead(prewarm->ahead);
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
    lock_ahead(prewarm->ahead);
    for (size_t i = 0; i < group->count; ++i) {
        struct ahead_item *item = &prewarm->items[group->numbers[i]];
        if (item->state == AHEAD_ASKED)
            item->state = AHEAD_GONE;
    }
    pthread_cond_broadcast(&prewarm->ahead->changed);
    unlock_ahead(prewarm->ahead);
}

/* Reads the next group. Returns false if there is none. */
static bool read_group(struct ingot_prewarm *prewarm)
{
    struct group group = {.prewarm = prewarm};
    if (!process_end_enter())
        return false;
    fill_prewarm_group(&group);
    if (group.count != 0)
        (void)ingot_storage_load_many(prewarm->storage, group.count, group.ids, on_loaded, &group);
    process_end_leave();
    leave_rest(&group);
    return group.count != 0;
}

static void tell_end(const struct ingot_prewarm *prewarm)
{
    char text[192];
    lock_ahead(prewarm->ahead); /* requests still take blobs */
    const ingot_prewarm_progress_t progress = prewarm->progress;
    unlock_ahead(prewarm->ahead);
    (void)snprintf(text, sizeof(text), "%llu of %llu blobs read; %llu missing; %llu failed; %llu overtaken",
                   (unsigned long long)progress.loaded, (unsigned long long)progress.total,
                   (unsigned long long)progress.missing, (unsigned long long)progress.failed,
                   (unsigned long long)progress.overtaken);
    storage_tell(prewarm->storage, INGOT_EVENT_PREWARM, INGOT_SUCCESS, progress.bytes, prewarm->start_ns, text);
}

static void *run_prewarm_thread(void *user)
{
    struct ingot_prewarm *prewarm = user;
    while (read_group(prewarm)) {
    }
    tell_end(prewarm);
    lock_ahead(prewarm->ahead);
    prewarm->is_running = false;
    pthread_cond_broadcast(&prewarm->ahead->changed);
    unlock_ahead(prewarm->ahead);
    return NULL;
}

/* ---- starting ---- */

static ingot_status_t read_prewarm_info(ingot_prewarm_info_t *copy, const ingot_prewarm_info_t *info)
{
    if (!STRUCT_READ(*copy, info))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "info or its struct_size is missing");
    if (copy->manifest == NULL || copy->manifest[0] == '\0')
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the manifest is missing");
    return INGOT_SUCCESS;
}

static void destroy_prewarm(struct ingot_prewarm *prewarm)
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

static ingot_status_t start_prewarm_thread(struct ingot_prewarm *prewarm)
{
    process_end_watch();
    lock_ahead(prewarm->ahead);
    const bool is_started = prewarm->is_running = thread_start(&prewarm->thread, run_prewarm_thread, prewarm);
    if (is_started)
        add_prewarm(prewarm->ahead, prewarm);
    unlock_ahead(prewarm->ahead);
    return is_started ? INGOT_SUCCESS : ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no thread to read blobs ahead");
}

ingot_status_t ingot_prewarm_start(ingot_prewarm_t *prewarm, ingot_storage_t storage, const ingot_prewarm_info_t *info)
{
    static const struct storage_part_kind kind = {sizeof(struct ahead), begin_ahead, end_ahead};
    ingot_prewarm_info_t known;
    void *ahead;
    if (prewarm == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "prewarm is NULL");
    ingot_status_t status = storage_check(storage);
    if (status == INGOT_SUCCESS)
        status = read_prewarm_info(&known, info);
    if (status == INGOT_SUCCESS)
        status = storage_make_part(storage, STORAGE_AHEAD, &kind, &ahead);
    if (status != INGOT_SUCCESS)
        return status;
    const ingot_allocator_t *allocator = storage_allocator(storage);
    struct ingot_prewarm *made = memory_allocate(allocator, sizeof(*made));
    if (made == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a prewarm");
    *made = (struct ingot_prewarm){.allocator = *allocator,
                                   .storage = storage,
                                   .ahead = ahead,
                                   .process = process_number(),
                                   .start_ns = files_steady_clock_ns(),
                                   .max_bytes = known.max_bytes != 0 ? known.max_bytes : DEFAULT_BYTES,
                                   .progress = INGOT_PREWARM_PROGRESS_INIT};
    manifest_init(&made->manifest, allocator);
    status = read_manifest(made, known.manifest);
    if (status == INGOT_SUCCESS)
        status = start_prewarm_thread(made);
    if (status != INGOT_SUCCESS) {
        destroy_prewarm(made);
        return status;
    }
    ingot_storage_retain(storage);
    *prewarm = made;
    return INGOT_SUCCESS;
}

/* ---- ending ---- */

static bool is_ours(const struct ingot_prewarm *prewarm)
{
    return prewarm->process == process_number();
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
        lock_ahead(prewarm->ahead);
    while (locks && prewarm->is_running)
        thread_wait(&prewarm->ahead->changed, &prewarm->ahead->calls.base.lock, THREAD_NO_TIME);
    (void)STRUCT_WRITE(progress, prewarm->progress);
    if (locks)
        unlock_ahead(prewarm->ahead);
    return INGOT_SUCCESS;
}

static void end_prewarm(struct ingot_prewarm *prewarm)
{
    lock_ahead(prewarm->ahead);
    prewarm->is_ending = true;
    unlock_ahead(prewarm->ahead);
    thread_join(prewarm->thread);
    lock_ahead(prewarm->ahead);
    remove_prewarm(prewarm->ahead, prewarm);
    unlock_ahead(prewarm->ahead);
    destroy_prewarm(prewarm);
}

void ingot_prewarm_release(ingot_prewarm_t prewarm)
{
    if (prewarm == NULL)
        return;
    struct kept_error kept;
    ingot_storage_t storage = prewarm->storage;
    kept_error_save(&kept);
    if (is_ours(prewarm))
        end_prewarm(prewarm);
    /* otherwise this is a forked child, in which the parent's blobs are leaked */
    ingot_storage_release(storage);
    kept_error_restore(&kept);
}
