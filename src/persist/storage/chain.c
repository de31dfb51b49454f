/*
 * chain.c - combines several storages, in order, into one.
 *
 * A chain's only state is its references to its tiers, which do not change, so it needs no lock. A failure of a tier
 * counts as a miss of that tier. If no other tier has the blob, the load returns the first failure.
 *
 * If a load finds a blob in a lower tier, it also promotes it: it stores a copy in the tiers above before it returns.
 * That takes little time compared with a load from a lower tier, and needs neither a queue nor a thread.
 */
#include <ingot/backend.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "persist/base/files.h"
#include "persist/base/kept_error.h"
#include "persist/base/memory.h"
#include "persist/storage/common/serving.h"
#include "persist/storage/common/state.h"
#include "persist/storage/storage.h"
#include "persist/storage/storing.h"
#include "util/error_text.h"

#define MAX_TIERS 16u
#define DETAIL_CAPACITY 256u
#define PART 64u             /* the largest number of ids in one request to a tier */
#define REASON_CAPACITY 192u /* for each of them, on the stack */

struct chain {
    ingot_allocator_t allocator;
    ingot_storage_t storage; /* the chain's own storage; not a reference */
    size_t count;
    ingot_storage_t tiers[MAX_TIERS];
};

/* Reports a promotion that failed. A promoted blob has no context, so the event goes to the callback of the first tier
 * that has a callback. */
static void tell_degraded(ingot_storage_t storage, ingot_status_t status, const char *reason)
{
    storage_tell(storage, INGOT_EVENT_STORAGE_DEGRADED, status, 0, files_steady_clock_ns(), reason);
}

static bool takes_blobs(ingot_storage_t tier)
{
    return storage_keeps_blobs(tier) && storage_is_on(tier);
}

/* Stores a blob in those of the first tier_count tiers that are writable. If one of them cannot store it, the next load
 * that finds it in a lower tier tries again. */
static void promote(const struct chain *chain, size_t tier_count, size_t id_size, const uint8_t *id,
                    const ingot_buffer_t *blob)
{
    for (size_t i = 0; i < tier_count; ++i) {
        if (!takes_blobs(chain->tiers[i]))
            continue;
        const ingot_status_t status =
            storage_store_around(chain->tiers[i], NULL, true, id_size, id, blob->size, blob->bytes);
        if (status == INGOT_SUCCESS || status == INGOT_READ_ONLY)
            continue;
        char reason[DETAIL_CAPACITY];
        (void)snprintf(reason, sizeof(reason), "a blob was not promoted to tier %zu: %s", i, ingot_last_error_detail());
        tell_degraded(chain->storage, status, reason);
    }
}

/* ---- policies ---- */

/* Lists a chain's tiers up to the one that a request is at, so that their policies apply to the tiers behind them, too:
 * a server has the policy of the directory in front of it. */
struct front {
    const struct chain *chain;
    const struct storage_around *around; /* the list for the next tier; at first, what is around the tiers */
    struct storage_around tiers[MAX_TIERS];
};

/* Calls that follow concern the tiers behind this one. */
static void pass(struct front *front, size_t tier)
{
    front->tiers[tier] = (struct storage_around){front->chain->tiers[tier], front->around, true};
    front->around = &front->tiers[tier];
}

/* ---- loads ---- */

/* Asks one tier after another. Only the first tier may skip the check of a blob (with_core), because the blobs of all
 * other tiers are promoted. If the policy of this chain, of a storage around it or of a tier in front refuses a tier's
 * blob, asks the next tier. */
static ingot_status_t load_kept(void *self, bool with_core, const struct storage_around *around, size_t id_size,
                                const uint8_t *id, ingot_buffer_t *kept)
{
    const struct chain *chain = self;
    struct front front = {.chain = chain, .around = around};
    ingot_status_t reason = INGOT_NOT_FOUND;
    char detail[DETAIL_CAPACITY] = "no tier has the blob";
    for (size_t i = 0; i < chain->count; ++i) {
        const ingot_status_t status =
            storage_load_kept(chain->tiers[i], with_core && i == 0, front.around, id_size, id, kept);
        if (status == INGOT_SUCCESS) {
            promote(chain, i, id_size, id, kept);
            return status;
        }
        pass(&front, i);
        if (reason == INGOT_NOT_FOUND && status != INGOT_NOT_FOUND) {
            reason = status;
            error_text_copy(detail, sizeof(detail), ingot_last_error_detail());
        }
    }
    return ingot_set_error_detail(reason, "%s", detail);
}

/* ---- several ids ---- */

/* A load of up to PART ids. */
struct many {
    const struct chain *chain;
    const ingot_storage_id_t *ids;
    ingot_storage_on_loaded_t on_loaded;
    void *user;
    size_t tier;          /* the tier that is asked now */
    ingot_status_t ended; /* the status with which on_loaded stopped the load; INGOT_SUCCESS if it did not */
    size_t count;         /* number of ids that this tier is asked for */
    ingot_storage_id_t asked[PART];
    struct {
        size_t number;   /* index in ids */
        bool is_lacking; /* true: the tier did not provide the blob */
    } wanted[PART];
    struct {
        ingot_status_t status;
        char detail[REASON_CAPACITY];
    } reasons[PART]; /* indexed like ids: the first failure that is not a miss */
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
    const ingot_storage_id_t *id = &many->ids[number];
    if (status == INGOT_SUCCESS) {
        promote(many->chain, many->tier, id->size, id->bytes, kept);
    } else {
        note_reason(many, number, status);
        many->wanted[index].is_lacking = true;
        if (many->tier + 1 < many->chain->count)
            return many->ended;
        status = ingot_set_error_detail(many->reasons[number].status, "%s", many->reasons[number].detail);
    }
    status = many->on_loaded(number, status, kept, many->user);
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

/* Loads up to PART ids. Returns false if on_loaded stopped the load. */
static bool load_part(const struct chain *chain, const struct storage_around *around, struct many *many)
{
    struct front front = {.chain = chain, .around = around};
    for (size_t i = 0; i < many->count; ++i) {
        many->asked[i] = many->ids[i];
        many->wanted[i].number = i;
        many->wanted[i].is_lacking = false;
        many->reasons[i].status = INGOT_NOT_FOUND;
        (void)snprintf(many->reasons[i].detail, REASON_CAPACITY, "no tier has the blob");
    }
    for (many->tier = 0; many->tier < chain->count && many->count != 0 && many->ended == INGOT_SUCCESS; ++many->tier) {
        storage_load_many_kept(chain->tiers[many->tier], front.around, many->count, many->asked, on_tier_loaded, many);
        keep_lacking(many);
        pass(&front, many->tier);
    }
    return many->ended == INGOT_SUCCESS;
}

struct part {
    size_t first;
    ingot_storage_on_loaded_t on_loaded;
    void *user;
};

static ingot_status_t on_part_loaded(size_t index, ingot_status_t status, ingot_buffer_t *kept, void *user)
{
    const struct part *part = user;
    return part->on_loaded(part->first + index, status, kept, part->user);
}

/* Asks each tier only for what the tiers before it did not provide. Works on up to PART ids at a time, so it needs no
 * allocation. */
static void load_many_kept(void *self, const struct storage_around *around, size_t count, const ingot_storage_id_t *ids,
                           ingot_storage_on_loaded_t on_loaded, void *user)
{
    struct part part = {0, on_loaded, user};
    struct many many;
    many.chain = self;
    many.on_loaded = on_part_loaded;
    many.user = &part;
    many.ended = INGOT_SUCCESS;
    for (; part.first < count; part.first += PART) {
        many.ids = &ids[part.first];
        many.count = count - part.first < PART ? count - part.first : PART;
        if (!load_part(self, around, &many))
            return;
    }
}

/* ---- stores ---- */

/* A blob that a chain stores in its tiers. */
struct storing {
    struct front front;
    bool is_kept; /* see storage_store_around */
    size_t id_size;
    const uint8_t *id;
    size_t size;
    const uint8_t *blob;
};

static ingot_status_t store_in_tier(struct storing *storing, size_t tier)
{
    const ingot_status_t status =
        storage_store_around(storing->front.chain->tiers[tier], storing->front.around, storing->is_kept,
                             storing->id_size, storing->id, storing->size, storing->blob);
    pass(&storing->front, tier);
    return status;
}

/* Stores a blob in a tier that also stores all that its chain stores. Does not change the thread's error detail,
 * because that belongs to the status of another tier. */
static void write_through(struct storing *storing, size_t tier)
{
    char reason[DETAIL_CAPACITY];
    struct kept_error kept;
    kept_error_save(&kept);
    const ingot_status_t status = store_in_tier(storing, tier);
    if (status != INGOT_SUCCESS && status != INGOT_READ_ONLY) {
        (void)snprintf(reason, sizeof(reason), "a blob was not stored in tier %zu: %s", tier,
                       ingot_last_error_detail());
        tell_degraded(storing->front.chain->storage, status, reason);
    }
    kept_error_restore(&kept);
}

static ingot_status_t store(void *self, const struct storage_around *around, bool is_kept, size_t id_size,
                            const uint8_t *id, size_t blob_size, const uint8_t *blob)
{
    const struct chain *chain = self;
    struct storing storing = {{.chain = chain, .around = around}, is_kept, id_size, id, blob_size, blob};
    size_t next = 0;
    ingot_status_t status = ingot_set_error_detail(INGOT_READ_ONLY, "no tier can be written");
    for (; next < chain->count && status == INGOT_READ_ONLY; ++next)
        status = store_in_tier(&storing, next);
    for (; next < chain->count; ++next) {
        if (atomic_load_explicit(&chain->tiers[next]->is_written_through, memory_order_relaxed) &&
            takes_blobs(chain->tiers[next]))
            write_through(&storing, next);
        else
            pass(&storing.front, next);
    }
    return status;
}

static bool has_blob(ingot_storage_t tier, size_t id_size, const uint8_t *id)
{
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    const ingot_status_t status = storage_load_kept(tier, false, NULL, id_size, id, &blob);
    memory_release_buffer(&blob);
    return status == INGOT_SUCCESS;
}

/* Removes the id from all tiers. A read-only tier keeps its blob, which is hidden once a blob is stored in a tier
 * before it. */
static ingot_status_t remove_id(void *self, size_t id_size, const uint8_t *id)
{
    const struct chain *chain = self;
    ingot_status_t failure = INGOT_NOT_FOUND;
    bool has_removed = false;
    bool has_writable = false;
    for (size_t i = 0; i < chain->count; ++i) {
        const ingot_status_t status = ingot_storage_remove(chain->tiers[i], id_size, id);
        has_writable = has_writable || status != INGOT_READ_ONLY;
        if (status == INGOT_SUCCESS)
            has_removed = true;
        else if (status == INGOT_READ_ONLY && !has_writable && has_blob(chain->tiers[i], id_size, id))
            failure = ingot_set_error_detail(status, "tier %zu has the blob, is read-only, and is asked first", i);
        else if (status != INGOT_NOT_FOUND && status != INGOT_READ_ONLY)
            failure = status;
    }
    return failure == INGOT_NOT_FOUND && has_removed ? INGOT_SUCCESS : failure;
}

static ingot_storage_t get_tier(void *self, size_t index)
{
    const struct chain *chain = self;
    return index < chain->count ? chain->tiers[index] : NULL;
}

static void destroy(void *self)
{
    struct chain *chain = self;
    for (size_t i = 0; i < chain->count; ++i)
        ingot_storage_release(chain->tiers[i]);
    const ingot_allocator_t allocator = chain->allocator;
    memory_free(&allocator, chain, sizeof(*chain));
}

ingot_status_t ingot_persist_chain(ingot_storage_t *storage, size_t tier_count, const ingot_storage_t *tiers)
{
    static const ingot_storage_ops_t ops = {.struct_size = sizeof(ops), .remove = remove_id, .destroy = destroy};
    static const struct storage_own_ops own = {
        .forward_load = load_kept, .forward_load_many = load_many_kept, .forward_store = store, .get_tier = get_tier};
    ingot_allocator_t allocator;
    if (storage == NULL || tiers == NULL || tier_count == 0 || tier_count > MAX_TIERS)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS,
                                      "storage or tiers is NULL, or tier_count is not 1 to 16");
    for (size_t i = 0; i < tier_count; ++i)
        if (tiers[i] == NULL)
            return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "tier %zu is NULL", i);
    (void)memory_init(&allocator, NULL);
    struct chain *chain = memory_allocate(&allocator, sizeof(*chain));
    if (chain == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a chain");
    *chain = (struct chain){.allocator = allocator, .count = tier_count};
    for (size_t i = 0; i < tier_count; ++i) {
        ingot_storage_retain(tiers[i]);
        chain->tiers[i] = tiers[i];
    }
    const ingot_status_t status = storage_create(storage, STORAGE_CHAIN, &ops, &own, chain, &allocator, NULL);
    if (status != INGOT_SUCCESS) {
        destroy(chain);
        return status;
    }
    chain->storage = *storage;
    for (size_t i = 0; i < tier_count && (*storage)->listener == NULL; ++i)
        (*storage)->listener = tiers[i]->on_event != NULL ? tiers[i] : tiers[i]->listener;
    for (size_t i = 0; i < tier_count && (*storage)->model == NULL; ++i)
        (*storage)->model = storage_keeps_blobs(tiers[i]) ? tiers[i] : NULL;
    return INGOT_SUCCESS;
}
