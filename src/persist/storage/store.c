/*
 * store.c - stores blobs in storages, and removes them. A storage keeps blobs itself, or it is a chain of others.
 *
 * A chain stores in its first writable tier, and in those that store all that their chain stores.
 */
#include <ingot/backend.h>
#include <stdio.h>

#include "persist/base/files.h"
#include "persist/base/kept_error.h"
#include "persist/base/memory.h"
#include "persist/storage/chain.h"
#include "persist/storage/events.h"
#include "persist/storage/serving.h"
#include "persist/storage/state.h"
#include "persist/storage/storage.h"
#include "persist/storage/trust.h"
#include "util/entry_kind.h"

#define DETAIL_CAPACITY 256u

bool storage_keeps_blobs(ingot_storage_t storage)
{
    if (storage->tier_count != 0)
        return storage->model != NULL;
    return storage->ops.store != NULL && !storage->is_read_only;
}

bool storage_takes_blobs(ingot_storage_t storage)
{
    return storage_keeps_blobs(storage) && storage_is_on(storage);
}

bool storage_is_writable(ingot_storage_t storage)
{
    return storage_keeps_blobs(storage) && !trust_forbids_storing(storage);
}

static ingot_status_t count_store(ingot_storage_t storage, ingot_status_t status)
{
    if (status == INGOT_SUCCESS)
        counters_add(&storage->counters, COUNTER_STORES, 1);
    else
        counters_add_failure(&storage->counters, status);
    return status;
}

static ingot_status_t check_writable(ingot_storage_t storage)
{
    if (storage->ops.store == NULL && storage->tier_count == 0)
        return ingot_set_error_detail(INGOT_READ_ONLY, "the storage has no store operation");
    if (!storage_is_on(storage))
        return storage_refuse(storage, INGOT_READ_ONLY);
    return INGOT_SUCCESS;
}

static ingot_status_t check_blob(ingot_storage_t storage, size_t id_size, const uint8_t *id, size_t blob_size,
                                 const uint8_t *blob)
{
    const ingot_status_t status = storage_check_id(storage, id_size, id);
    if (status == INGOT_SUCCESS && (blob == NULL || blob_size == 0))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "blob is NULL or empty");
    return status;
}

/* A blob that a chain stores in its tiers. */
struct storing {
    ingot_storage_t chain;
    bool replaces;
    size_t id_size;
    const uint8_t *id;
    size_t size;
    const uint8_t *bytes;
};

static ingot_status_t store_in_tier(const struct storing *storing, size_t tier)
{
    return storage_store_kept(storing->chain->tiers[tier], storing->replaces, storing->id_size, storing->id,
                              storing->size, storing->bytes);
}

/* Stores a blob in a tier that also stores all that its chain stores. Does not change the thread's error detail,
 * because that belongs to the status of another tier. */
static void write_through(const struct storing *storing, size_t tier)
{
    char reason[DETAIL_CAPACITY];
    struct kept_error kept;
    kept_error_save(&kept);
    const ingot_status_t status = store_in_tier(storing, tier);
    if (status != INGOT_SUCCESS && status != INGOT_READ_ONLY) {
        (void)snprintf(reason, sizeof(reason), "a blob was not stored in tier %zu: %s", tier,
                       ingot_last_error_detail());
        storage_tell(storing->chain, INGOT_EVENT_STORAGE_DEGRADED, status, 0, files_steady_clock_ns(), reason);
    }
    kept_error_restore(&kept);
}

static ingot_status_t store_in_tiers(const struct storing *storing)
{
    ingot_storage_t chain = storing->chain;
    struct chain_use use;
    size_t next = 0;
    if (storing->replaces)
        chain_begin_change(chain, &use, storing->id_size, storing->id);
    ingot_status_t status = ingot_set_error_detail(INGOT_READ_ONLY, "no tier can be written");
    for (; next < chain->tier_count && status == INGOT_READ_ONLY; ++next)
        status = store_in_tier(storing, next);
    for (; next < chain->tier_count; ++next)
        if (atomic_load_explicit(&chain->tiers[next]->is_written_through, memory_order_relaxed) &&
            storage_takes_blobs(chain->tiers[next]))
            write_through(storing, next);
    if (storing->replaces)
        chain_end_use(chain, &use);
    return status;
}

ingot_status_t storage_store_kept(ingot_storage_t storage, bool replaces, size_t id_size, const uint8_t *id,
                                  size_t size, const uint8_t *bytes)
{
    const struct storing storing = {storage, replaces, id_size, id, size, bytes};
    ingot_status_t status = check_writable(storage);
    if (status != INGOT_SUCCESS)
        return status;
    if (entry_kind_of(id_size, id) == ENTRY_PROBES)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "probes are stored only by who learned them");
    if (storage->tier_count != 0)
        status = store_in_tiers(&storing);
    else if (replaces || storage->own->store_new == NULL)
        status = storage->ops.store(storage->self, id_size, id, size, bytes);
    else
        status = storage->own->store_new(storage->self, id_size, id, size, bytes);
    return count_store(storage, status);
}

ingot_status_t ingot_storage_store(ingot_storage_t storage, size_t id_size, const uint8_t *id, size_t blob_size,
                                   const uint8_t *blob)
{
    ingot_buffer_t sealed = INGOT_BUFFER_INIT;
    ingot_status_t status = check_blob(storage, id_size, id, blob_size, blob);
    if (status == INGOT_SUCCESS)
        status = check_writable(storage);
    if (status != INGOT_SUCCESS)
        return status;
    status = trust_seal(storage, id_size, id, blob_size, blob, &sealed);
    if (status != INGOT_SUCCESS)
        status = count_store(storage, status);
    else if (sealed.bytes != NULL)
        status = storage_store_kept(storage, true, id_size, id, sealed.size, sealed.bytes);
    else
        status = storage_store_kept(storage, true, id_size, id, blob_size, blob);
    memory_release_buffer(&sealed);
    return status;
}

ingot_status_t ingot_persist_store_sealed(ingot_storage_t storage, size_t id_size, const uint8_t *id, size_t size,
                                          const uint8_t *bytes)
{
    ingot_status_t status = check_blob(storage, id_size, id, size, bytes);
    if (status == INGOT_SUCCESS)
        status = check_writable(storage);
    if (status != INGOT_SUCCESS)
        return status;
    status = trust_check_kept(storage, id_size, id, size, bytes);
    return status == INGOT_SUCCESS ? storage_store_kept(storage, true, id_size, id, size, bytes)
                                   : count_store(storage, status);
}

static bool tier_has_blob(ingot_storage_t tier, size_t id_size, const uint8_t *id)
{
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    const ingot_status_t status = storage_load_kept(tier, tier, false, id_size, id, &blob);
    memory_release_buffer(&blob);
    return status == INGOT_SUCCESS;
}

/* Removes the id from all tiers. A read-only tier keeps its blob, which is hidden once a blob is stored in a tier
 * before it. */
static ingot_status_t remove_from_tiers(ingot_storage_t chain, size_t id_size, const uint8_t *id)
{
    struct chain_use use;
    ingot_status_t failure = INGOT_NOT_FOUND;
    bool has_removed = false;
    bool has_writable = false;
    chain_begin_change(chain, &use, id_size, id);
    for (size_t i = 0; i < chain->tier_count; ++i) {
        const ingot_status_t status = ingot_storage_remove(chain->tiers[i], id_size, id);
        has_writable = has_writable || status != INGOT_READ_ONLY;
        if (status == INGOT_SUCCESS)
            has_removed = true;
        else if (status == INGOT_READ_ONLY && !has_writable && tier_has_blob(chain->tiers[i], id_size, id))
            failure = ingot_set_error_detail(status, "tier %zu has the blob, is read-only, and is asked first", i);
        else if (status != INGOT_NOT_FOUND && status != INGOT_READ_ONLY)
            failure = status;
    }
    chain_end_use(chain, &use);
    return failure == INGOT_NOT_FOUND && has_removed ? INGOT_SUCCESS : failure;
}

ingot_status_t ingot_storage_remove(ingot_storage_t storage, size_t id_size, const uint8_t *id)
{
    ingot_status_t status = storage_check_id(storage, id_size, id);
    if (status == INGOT_SUCCESS)
        status = storage_check(storage);
    if (status != INGOT_SUCCESS)
        return status;
    if (storage->ops.remove == NULL && storage->tier_count == 0)
        return ingot_set_error_detail(INGOT_READ_ONLY, "the storage has no remove operation");
    return storage->tier_count != 0 ? remove_from_tiers(storage, id_size, id)
                                    : storage->ops.remove(storage->self, id_size, id);
}
