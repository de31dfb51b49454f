/*
 * prewarm_fetch.c - loads the blobs of several items in one request; see prewarm_fetch.h.
 *
 * Over a network, a hundred single loads mostly wait for a hundred answers. So the thread that has the next item loads
 * the blobs of a group of items, and the other threads create programs from the blobs that have arrived. The items
 * still wait for their turns, in the manifest's order. If a caller requests an item before its turn, it loads the
 * program itself, and the blob is dropped. The total size of the blobs that items hold is limited. Blobs that the
 * storage did not deliver are requested again with a later group. But if the blob of the group's first item was not
 * delivered, it is loaded alone, in the item's turn. Otherwise, that turn might never come, because each group would
 * request the blob again.
 */
#include "persist/prewarm/prewarm_fetch.h"

#include <ingot/backend.h>

#include "persist/base/files.h"
#include "persist/base/memory.h"
#include "persist/storage/common/events.h"
#include "persist/storage/common/process_end.h"
#include "persist/storage/common/serving.h"
#include "persist/storage/storage.h"

#define GROUP 32u
#define MOST_BYTES ((size_t)16 << 20) /* no more blobs are loaded while items hold this many bytes */

struct group {
    struct ingot_prewarm *prewarm;
    const struct prewarm_thread *self;
    uint64_t started_ns; /* when the last blob arrived, or if none did, when the request began */
    size_t end;          /* index after the last item */
    size_t count;
    size_t numbers[GROUP]; /* indices of the items */
    ingot_storage_id_t ids[GROUP];
    ingot_program_desc_t descs[GROUP]; /* each is NULL once its item owns it */
};

void prewarm_blob_release(struct prewarm_blob *blob)
{
    ingot_program_desc_release(blob->desc);
    memory_release_buffer(&blob->bytes);
    blob->desc = NULL;
}

struct prewarm_blob prewarm_fetch_take(struct ingot_prewarm *prewarm, size_t number)
{
    struct prewarm_item *item = &prewarm->items[number];
    const struct prewarm_blob taken = item->blob;
    prewarm->fetched_bytes -= taken.bytes.size;
    item->blob = (struct prewarm_blob){.desc = NULL};
    return taken;
}

void prewarm_fetch_drop(struct ingot_prewarm *prewarm)
{
    for (size_t i = 0; i < prewarm->manifest.ids.count; ++i) {
        prewarm_list_lock(prewarm->list);
        struct prewarm_blob blob = prewarm_fetch_take(prewarm, i);
        prewarm_list_unlock(prewarm->list);
        prewarm_blob_release(&blob);
    }
}

/* ---- under the lock ---- */

/* True if no more loads may begin. */
static bool is_over(const struct ingot_prewarm *prewarm)
{
    const ingot_prewarm_info_t *info = &prewarm->info;
    return prewarm->is_ending ||
           (info->max_time_ns != 0 && files_steady_clock_ns() - prewarm->start_ns > info->max_time_ns) ||
           (info->max_bytes != 0 && prewarm->progress.bytes + prewarm->fetched_bytes >= info->max_bytes);
}

static bool is_full(const struct ingot_prewarm *prewarm)
{
    return prewarm->fetched_bytes >= MOST_BYTES;
}

static void collect(struct group *group, size_t first)
{
    struct ingot_prewarm *prewarm = group->prewarm;
    for (size_t i = first; i < prewarm->manifest.ids.count && group->count < GROUP; ++i) {
        struct prewarm_item *item = &prewarm->items[i];
        if (item->state != PREWARM_WAITING || item->fetch != PREWARM_NOT_ASKED)
            continue;
        item->fetch = PREWARM_ASKED;
        item->fetcher = group->self;
        group->numbers[group->count++] = i;
        group->end = i + 1;
    }
}

/* Lets later groups load the items that this group did not load. If the group's first item is one of them, it is
 * instead loaded alone, in its turn. */
static void leave_rest(const struct group *group, size_t first)
{
    struct ingot_prewarm *prewarm = group->prewarm;
    for (size_t i = first; i < group->end; ++i) {
        struct prewarm_item *item = &prewarm->items[i];
        if (item->fetch == PREWARM_ASKED && item->fetcher == group->self)
            item->fetch = i == first ? PREWARM_ALONE : PREWARM_NOT_ASKED;
    }
    pthread_cond_broadcast(&prewarm->list->loaded);
}

static bool wait_for_fetcher(struct ingot_prewarm *prewarm, const struct prewarm_item *item)
{
    if (ingot_work_begin_wait(&item->fetcher->work) != INGOT_SUCCESS)
        return false; /* the fetching thread waits for this one */
    process_lock_wait(&prewarm->list->lock, &prewarm->list->loaded);
    ingot_work_end_wait();
    return true;
}

/* ---- without the lock ---- */

/* Marks an item to be loaded alone, in its turn. */
static void leave_alone(struct ingot_prewarm *prewarm, size_t number)
{
    prewarm_list_lock(prewarm->list);
    prewarm->items[number].fetch = PREWARM_ALONE;
    pthread_cond_broadcast(&prewarm->list->loaded);
    prewarm_list_unlock(prewarm->list);
}

/* Creates the descriptors of the group's items. If an item's descriptor cannot be created, for example because the item
 * belongs to another driver, removes the item from the group; its own turn will report the reason. */
static void describe(struct group *group)
{
    struct ingot_prewarm *prewarm = group->prewarm;
    const size_t count = group->count;
    const bool is_served = storage_serves(prewarm->storage, prewarm->context);
    group->count = 0;
    for (size_t i = 0; i < count && is_served; ++i) {
        const struct listed_id *id = &prewarm->manifest.ids.ids[group->numbers[i]];
        ingot_program_desc_t desc = NULL;
        if (!process_end_enter())
            return;
        const ingot_status_t status =
            ingot_program_desc_create_from_cache_blob_id(&desc, prewarm->context, id->size, id->bytes);
        process_end_leave();
        if (status != INGOT_SUCCESS) {
            leave_alone(prewarm, group->numbers[i]);
            continue;
        }
        group->numbers[group->count] = group->numbers[i];
        group->ids[group->count] = (ingot_storage_id_t){id->size, id->bytes};
        group->descs[group->count++] = desc;
    }
}

/* Gives a blob to its item, unless a caller has already requested the program. Returns false if no more blobs should be
 * loaded. */
static bool give(struct group *group, size_t index, struct prewarm_blob *blob)
{
    struct ingot_prewarm *prewarm = group->prewarm;
    struct prewarm_item *item = &prewarm->items[group->numbers[index]];
    prewarm_list_lock(prewarm->list);
    if (item->state == PREWARM_WAITING) {
        item->blob = *blob;
        prewarm->fetched_bytes += blob->bytes.size;
        *blob = (struct prewarm_blob){.desc = NULL};
        group->descs[index] = NULL;
    }
    item->fetch = PREWARM_FETCHED;
    const bool goes_on = !is_over(prewarm) && !is_full(prewarm);
    if (group->numbers[index] <= prewarm->next_item) /* threads only ever wait for the next item */
        pthread_cond_broadcast(&prewarm->list->loaded);
    prewarm_list_unlock(prewarm->list);
    return goes_on;
}

static int on_loaded(size_t index, ingot_status_t status, ingot_buffer_t *bytes, void *user)
{
    struct group *group = user;
    struct prewarm_blob blob = {.desc = group->descs[index], .status = status, .bytes = INGOT_BUFFER_INIT};
    if (status == INGOT_SUCCESS)
        blob.bytes = *bytes;
    events_tell_context(group->prewarm->context, INGOT_EVENT_STORAGE_LOAD, status, blob.bytes.size, group->started_ns,
                        status == INGOT_SUCCESS ? "" : ingot_last_error_detail());
    const bool goes_on = give(group, index, &blob);
    memory_release_buffer(&blob.bytes);
    group->started_ns = files_steady_clock_ns();
    return goes_on;
}

static void load_group(struct ingot_prewarm *prewarm, const struct prewarm_thread *self, size_t first)
{
    struct group group = {.prewarm = prewarm, .self = self};
    collect(&group, first);
    prewarm_list_unlock(prewarm->list);
    describe(&group);
    group.started_ns = files_steady_clock_ns();
    if (group.count != 0)
        storage_load_many_for_core(prewarm->storage, group.count, group.ids, on_loaded, &group);
    for (size_t i = 0; i < group.count; ++i)
        ingot_program_desc_release(group.descs[i]);
    prewarm_list_lock(prewarm->list);
    leave_rest(&group, first);
}

bool prewarm_fetch(struct ingot_prewarm *prewarm, const struct prewarm_thread *self, size_t number)
{
    const struct prewarm_item *item = &prewarm->items[number];
    if (!prewarm->fetches_ahead || item->fetch == PREWARM_FETCHED || item->fetch == PREWARM_ALONE)
        return false;
    if (item->fetch == PREWARM_ASKED)
        return wait_for_fetcher(prewarm, item);
    if (is_full(prewarm))
        return false;
    load_group(prewarm, self, number);
    return true;
}
