/*
 * load.c - loads blobs from storages. A storage keeps blobs itself, or it is a chain and asks its tiers.
 *
 * A failure of a tier counts as a miss of that tier. If no other tier has the blob, the load returns the first failure.
 *
 * If a load finds a blob in a lower tier, it also promotes it: it stores a copy in the tiers above before it returns.
 * That takes little time compared with a load from a lower tier, and needs neither a queue nor a thread.
 */
#include <ingot/backend.h>
#include <stdio.h>

#include "persist/base/files.h"
#include "persist/storage/chain.h"
#include "persist/storage/events.h"
#include "persist/storage/serving.h"
#include "persist/storage/state.h"
#include "persist/storage/storage.h"
#include "persist/storage/trust.h"
#include "persist/trust/seal.h"
#include "util/entry_kind.h"
#include "util/error_text.h"

#define DETAIL_CAPACITY 256u

/* Counts a load by its final status, and returns that status. */
static ingot_status_t count_load(ingot_storage_t storage, ingot_status_t status)
{
    counters_add(&storage->counters, status == INGOT_SUCCESS ? COUNTER_HITS : COUNTER_MISSES, 1);
    if (status != INGOT_SUCCESS && status != INGOT_NOT_FOUND)
        counters_add_failure(&storage->counters, status);
    return status;
}

/* Loads from a storage that keeps blobs itself, checks what was loaded, and counts the load. */
static ingot_status_t load_own(ingot_storage_t storage, ingot_storage_t asked, bool with_core, size_t id_size,
                               const uint8_t *id, ingot_buffer_t *kept)
{
    const bool is_for_core = with_core && storage->own->load_for_core != NULL;
    ingot_buffer_t loaded = INGOT_BUFFER_INIT;
    ingot_status_t status =
        (is_for_core ? storage->own->load_for_core : storage->ops.load)(storage->self, id_size, id, &loaded);
    if (status == INGOT_SUCCESS)
        status = trust_check_loaded(storage, asked, id_size, id, &loaded);
    if (status == INGOT_SUCCESS)
        *kept = loaded;
    return count_load(storage, status);
}

/* Stores what a tier of a chain keeps in those of the tier_count tiers in front of it that take blobs. What such a tier
 * has stored meanwhile stays; only a blob that the load could not use is replaced (`unusable` has a bit for each such
 * tier). If a tier cannot store it, reports that, and the next load that finds the blob in a lower tier tries again. */
static void promote(ingot_storage_t chain, size_t tier_count, unsigned unusable, size_t id_size, const uint8_t *id,
                    const ingot_buffer_t *kept)
{
    for (size_t i = 0; i < tier_count; ++i) {
        if (!storage_takes_blobs(chain->tiers[i]))
            continue;
        const bool replaces = (unusable >> i & 1) != 0;
        const ingot_status_t status =
            storage_store_kept(chain->tiers[i], replaces, id_size, id, kept->size, kept->bytes);
        if (status == INGOT_SUCCESS || status == INGOT_READ_ONLY)
            continue;
        char reason[DETAIL_CAPACITY];
        (void)snprintf(reason, sizeof(reason), "a blob was not promoted to tier %zu: %s", i, ingot_last_error_detail());
        storage_tell(chain, INGOT_EVENT_STORAGE_DEGRADED, status, 0, files_steady_clock_ns(), reason);
    }
}

/* Asks one tier after another, and promotes what a lower one has. Only the first tier may skip the check of a blob
 * (with_core), because the blobs of all other tiers are promoted. If a policy refuses a tier's blob, asks the next
 * tier.
 */
static ingot_status_t load_from_tiers(ingot_storage_t chain, ingot_storage_t asked, bool with_core, size_t id_size,
                                      const uint8_t *id, ingot_buffer_t *kept)
{
    struct chain_use use;
    ingot_status_t reason = INGOT_NOT_FOUND;
    ingot_status_t status = INGOT_NOT_FOUND;
    unsigned unusable = 0;
    char detail[DETAIL_CAPACITY] = "no tier has the blob";
    chain_begin_load(chain, &use, id_size, id);
    for (size_t i = 0; i < chain->tier_count && status != INGOT_SUCCESS; ++i) {
        status = storage_load_kept(chain->tiers[i], asked, with_core && i == 0, id_size, id, kept);
        if (status == INGOT_SUCCESS && i != 0 && chain_begin_promotion(chain, &use))
            promote(chain, i, unusable, id_size, id, kept);
        if (status == INGOT_SUCCESS || status == INGOT_NOT_FOUND)
            continue;
        unusable |= 1u << i;
        if (reason == INGOT_NOT_FOUND) {
            reason = status;
            error_text_copy(detail, sizeof(detail), ingot_last_error_detail());
        }
    }
    chain_end_use(chain, &use);
    return status == INGOT_SUCCESS ? status : ingot_set_error_detail(reason, "%s", detail);
}

ingot_status_t storage_load_kept(ingot_storage_t storage, ingot_storage_t asked, bool with_core, size_t id_size,
                                 const uint8_t *id, ingot_buffer_t *kept)
{
    if (!storage_is_on(storage))
        return storage_refuse(storage, INGOT_NOT_FOUND);
    if (entry_kind_of(id_size, id) == ENTRY_PROBES)
        return ingot_set_error_detail(INGOT_NOT_FOUND, "probes do not leave their store");
    if (storage->tier_count == 0)
        return load_own(storage, asked, with_core, id_size, id, kept);
    return count_load(storage, load_from_tiers(storage, asked, with_core, id_size, id, kept));
}

ingot_status_t storage_peek(ingot_storage_t storage, size_t id_size, const uint8_t *id, ingot_buffer_t *blob)
{
    ingot_buffer_t loaded = INGOT_BUFFER_INIT;
    ingot_status_t status = storage->ops.load(storage->self, id_size, id, &loaded);
    if (status == INGOT_SUCCESS)
        status = trust_check_loaded(storage, storage, id_size, id, &loaded);
    if (status == INGOT_SUCCESS)
        status = seal_open(&storage->allocator, &loaded);
    if (status == INGOT_SUCCESS)
        *blob = loaded;
    return status;
}

ingot_status_t storage_load(ingot_storage_t storage, bool with_core, size_t id_size, const uint8_t *id,
                            ingot_buffer_t *blob)
{
    ingot_buffer_t loaded = INGOT_BUFFER_INIT;
    ingot_status_t status = storage_load_kept(storage, storage, with_core, id_size, id, &loaded);
    if (status == INGOT_SUCCESS)
        status = seal_open(&storage->allocator, &loaded);
    if (status == INGOT_SUCCESS)
        *blob = loaded;
    return status;
}

ingot_status_t ingot_storage_load(ingot_storage_t storage, size_t id_size, const uint8_t *id, ingot_buffer_t *blob)
{
    const ingot_status_t status = storage_check_id(storage, id_size, id);
    if (status != INGOT_SUCCESS)
        return status;
    if (blob == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "blob is NULL");
    return storage_load(storage, false, id_size, id, blob);
}
