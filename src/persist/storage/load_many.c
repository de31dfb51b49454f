/*
 * load_many.c - loads several blobs at once if the storage has an operation for that, and otherwise one after another.
 *
 * Loaded blobs are checked and counted as in a load of one blob (storage.c).
 */
#include <ingot/backend.h>

#include "persist/base/memory.h"
#include "persist/storage/common/serving.h"
#include "persist/storage/common/state.h"
#include "persist/storage/storage.h"
#include "persist/storage/trust.h"

/* The `user` of the receive functions, which process what a storage loaded and pass it to on_loaded. */
struct receiver {
    ingot_storage_t storage;
    const struct storage_around *around;
    const ingot_storage_id_t *ids;
    ingot_storage_on_loaded_t on_loaded;
    void *user;
};

bool storage_loads_many(ingot_storage_t storage)
{
    bool can = storage_is_on(storage) && storage->ops.load_many != NULL;
    if (!storage_is_on(storage) || can)
        return can;
    for (size_t i = 0; storage->own->get_tier != NULL && !can; ++i) {
        ingot_storage_t tier = storage->own->get_tier(storage->self, i);
        if (tier == NULL)
            break;
        can = storage_loads_many(tier);
    }
    return can;
}

/* ---- kept bytes, see storage.h ---- */

static ingot_status_t receive_own(size_t index, ingot_status_t status, ingot_buffer_t *kept, void *user)
{
    const struct receiver *receiver = user;
    const ingot_storage_id_t *id = &receiver->ids[index];
    status = storage_judge_loaded(receiver->storage, receiver->around, id->size, id->bytes, status, kept);
    return receiver->on_loaded(index, status, kept, receiver->user);
}

static ingot_status_t receive_forwarded(size_t index, ingot_status_t status, ingot_buffer_t *kept, void *user)
{
    const struct receiver *receiver = user;
    (void)storage_count_load(receiver->storage, status);
    return receiver->on_loaded(index, status, kept, receiver->user);
}

static void load_each(ingot_storage_t storage, const struct receiver *receiver, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        ingot_buffer_t kept = INGOT_BUFFER_INIT;
        const ingot_storage_id_t *id = &receiver->ids[i];
        const ingot_status_t status = storage_load_kept(storage, false, receiver->around, id->size, id->bytes, &kept);
        if (receiver->on_loaded(i, status, &kept, receiver->user) != INGOT_SUCCESS)
            return;
    }
}

void storage_load_many_kept(ingot_storage_t storage, const struct storage_around *around, size_t count,
                            const ingot_storage_id_t *ids, ingot_storage_on_loaded_t on_loaded, void *user)
{
    const struct storage_around here = {storage, around, false};
    struct receiver receiver = {storage, around, ids, on_loaded, user};
    if (!storage_loads_many(storage))
        load_each(storage, &receiver, count);
    else if (storage->own->forward_load_many != NULL)
        storage->own->forward_load_many(storage->self, &here, count, ids, receive_forwarded, &receiver);
    else
        storage->ops.load_many(storage->self, count, ids, receive_own, &receiver);
}

/* ---- plain blobs ---- */

static ingot_status_t receive_opened(size_t index, ingot_status_t status, ingot_buffer_t *kept, void *user)
{
    const struct receiver *receiver = user;
    if (status == INGOT_SUCCESS)
        status = trust_open_kept(receiver->storage, kept);
    return receiver->on_loaded(index, status, kept, receiver->user);
}

/* The caller's callback, and the first status with which it stopped the load. */
struct visiting {
    ingot_storage_on_loaded_t on_loaded;
    void *user;
    ingot_status_t stopped;
};

static ingot_status_t visit(size_t index, ingot_status_t status, ingot_buffer_t *blob, void *user)
{
    struct visiting *visiting = user;
    status = visiting->on_loaded(index, status, blob, visiting->user);
    if (visiting->stopped == INGOT_SUCCESS)
        visiting->stopped = status;
    return status;
}

ingot_status_t ingot_storage_load_many(ingot_storage_t storage, size_t count, const ingot_storage_id_t *ids,
                                       ingot_storage_on_loaded_t on_loaded, void *user)
{
    struct visiting visiting = {on_loaded, user, INGOT_SUCCESS};
    struct receiver receiver = {storage, NULL, ids, visit, &visiting};
    if (storage == NULL || on_loaded == NULL || (ids == NULL && count != 0))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "storage, ids or on_loaded is missing");
    for (size_t i = 0; i < count; ++i)
        if (ids[i].bytes == NULL || ids[i].size == 0)
            return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "id %zu is missing or empty", i);
    storage_load_many_kept(storage, NULL, count, ids, receive_opened, &receiver);
    return visiting.stopped;
}
