/*
 * load_many.c - loads several blobs at once if the storage has an operation for that, and otherwise one after another.
 *
 * Loaded blobs are checked and counted as in a load of one blob (load.c).
 */
#include <ingot/backend.h>
#include <stdio.h>

#include "persist/base/memory.h"
#include "persist/storage/common/serving.h"
#include "persist/storage/common/state.h"
#include "persist/storage/storage.h"
#include "persist/trust/seal.h"
#include "util/error_text.h"

#define PART 64u             /* the largest number of ids in one request to a tier */
#define REASON_CAPACITY 192u /* for each of them, on the stack */

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
    for (size_t i = 0; i < storage->tier_count && !can; ++i)
        can = storage_loads_many(storage->tiers[i]);
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

/* ---- a chain ---- */

/* A load of up to PART ids. */
struct many {
    const struct receiver *receiver; /* of the whole load; its storage is the chain */
    size_t first;                    /* index in the receiver's ids */
    size_t tier;                     /* the tier that is asked now */
    ingot_status_t ended;            /* the status with which on_loaded stopped the load; INGOT_SUCCESS if it did not */
    size_t count;                    /* number of ids that this tier is asked for */
    ingot_storage_id_t asked[PART];
    struct {
        size_t number;   /* index in the receiver's ids, counted from `first` */
        bool is_lacking; /* true: the tier did not provide the blob */
    } wanted[PART];
    struct {
        ingot_status_t status;
        char detail[REASON_CAPACITY];
    } reasons[PART]; /* by number: the first failure that is not a miss */
};

static void note_reason(struct many *many, size_t number, ingot_status_t status)
{
    if (many->reasons[number].status != INGOT_NOT_FOUND || status == INGOT_NOT_FOUND)
        return;
    many->reasons[number].status = status;
    error_text_copy(many->reasons[number].detail, REASON_CAPACITY, ingot_last_error_detail());
}

static ingot_status_t on_tier_loaded(size_t index, ingot_status_t status, ingot_buffer_t *kept, void *user)
{
    struct many *many = user;
    const size_t number = many->wanted[index].number;
    const struct receiver *receiver = many->receiver;
    const ingot_storage_id_t *id = &many->asked[index];
    if (status == INGOT_SUCCESS) {
        storage_promote(receiver->storage, many->tier, id->size, id->bytes, kept);
    } else {
        note_reason(many, number, status);
        many->wanted[index].is_lacking = true;
        if (many->tier + 1 < receiver->storage->tier_count)
            return many->ended;
        status = ingot_set_error_detail(many->reasons[number].status, "%s", many->reasons[number].detail);
    }
    (void)storage_count_load(receiver->storage, status);
    status = receiver->on_loaded(many->first + number, status, kept, receiver->user);
    if (many->ended == INGOT_SUCCESS)
        many->ended = status;
    return many->ended;
}

/* Keeps only the ids that the tier did not provide, to ask the next tier for them. */
static void keep_lacking(struct many *many)
{
    const size_t count = many->count;
    many->count = 0;
    for (size_t i = 0; i < count; ++i) {
        if (!many->wanted[i].is_lacking)
            continue;
        many->wanted[many->count].number = many->wanted[i].number;
        many->wanted[many->count].is_lacking = false;
        many->asked[many->count++] = many->asked[i];
    }
}

/* Loads up to PART ids. */
static void load_group_of_ids(struct many *many)
{
    ingot_storage_t chain = many->receiver->storage;
    const struct storage_around here = {chain, many->receiver->around, false};
    struct storage_front front = {.chain = chain, .around = &here};
    for (size_t i = 0; i < many->count; ++i) {
        many->asked[i] = many->receiver->ids[many->first + i];
        many->wanted[i].number = i;
        many->wanted[i].is_lacking = false;
        many->reasons[i].status = INGOT_NOT_FOUND;
        (void)snprintf(many->reasons[i].detail, REASON_CAPACITY, "no tier has the blob");
    }
    for (many->tier = 0; many->tier < chain->tier_count && many->count != 0 && many->ended == INGOT_SUCCESS;
         ++many->tier) {
        storage_load_many_kept(chain->tiers[many->tier], front.around, many->count, many->asked, on_tier_loaded, many);
        keep_lacking(many);
        storage_front_pass(&front, many->tier);
    }
}

/* Asks each tier only for what the tiers before it did not provide. Works on up to PART ids at a time, so it needs no
 * allocation. */
static void load_many_from_tiers(const struct receiver *receiver, size_t count)
{
    struct many many;
    many.receiver = receiver;
    many.ended = INGOT_SUCCESS;
    for (many.first = 0; many.first < count && many.ended == INGOT_SUCCESS; many.first += PART) {
        many.count = count - many.first < PART ? count - many.first : PART;
        load_group_of_ids(&many);
    }
}

void storage_load_many_kept(ingot_storage_t storage, const struct storage_around *around, size_t count,
                            const ingot_storage_id_t *ids, ingot_storage_on_loaded_t on_loaded, void *user)
{
    struct receiver receiver = {storage, around, ids, on_loaded, user};
    if (!storage_loads_many(storage))
        load_each(storage, &receiver, count);
    else if (storage->tier_count != 0)
        load_many_from_tiers(&receiver, count);
    else
        storage->ops.load_many(storage->self, count, ids, receive_own, &receiver);
}

/* ---- plain blobs ---- */

/* The caller's callback, and the first status with which it stopped the load. */
struct visiting {
    ingot_storage_t storage;
    ingot_storage_on_loaded_t on_loaded;
    void *user;
    ingot_status_t stopped;
};

static ingot_status_t open_and_pass_blob(size_t index, ingot_status_t status, ingot_buffer_t *kept, void *user)
{
    struct visiting *visiting = user;
    if (status == INGOT_SUCCESS)
        status = seal_open(&visiting->storage->allocator, kept);
    status = visiting->on_loaded(index, status, kept, visiting->user);
    if (visiting->stopped == INGOT_SUCCESS)
        visiting->stopped = status;
    return status;
}

ingot_status_t ingot_storage_load_many(ingot_storage_t storage, size_t count, const ingot_storage_id_t *ids,
                                       ingot_storage_on_loaded_t on_loaded, void *user)
{
    struct visiting visiting = {storage, on_loaded, user, INGOT_SUCCESS};
    if (storage == NULL || on_loaded == NULL || (ids == NULL && count != 0))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "storage, ids or on_loaded is missing");
    for (size_t i = 0; i < count; ++i)
        if (ids[i].bytes == NULL || ids[i].size == 0)
            return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "id %zu is missing or empty", i);
    storage_load_many_kept(storage, NULL, count, ids, open_and_pass_blob, &visiting);
    return visiting.stopped;
}
