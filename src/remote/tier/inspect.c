/*
 * inspect.c - answers an application's questions about a remote tier, and waits for its uploads.
 */
#include <ingot/backend.h>
#include <ingot/private/remote.h>

#include "remote/base/clock.h"
#include "remote/object/object_key.h"
#include "remote/tier/load.h"
#include "remote/tier/registry.h"
#include "remote/tier/tier.h"
#include "remote/tier/worker.h"
#include "util/limit.h"
#include "util/struct_size.h"

static ingot_status_t find_tier(ingot_storage_t storage, struct tier **tier)
{
    if (storage == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "storage is NULL");
    *tier = registry_find(storage);
    return *tier != NULL ? INGOT_SUCCESS
                         : ingot_set_error_detail(INGOT_UNIMPLEMENTED,
                                                  "the storage is not a remote tier that this process opened");
}

static void fill_stats(struct tier *tier, ingot_remote_stats_t *stats)
{
    tier_lock(tier);
    const bool is_active = tier->queue.active != NULL;
    *stats = tier->counts;
    stats->struct_size = sizeof(*stats);
    stats->waiting = tier->queue.count + is_active;
    stats->pauses = tier->guard.pause_count;
    stats->lost_ns = tier->guard.total_ns;
    stats->is_asking = !guard_is_paused(&tier->guard);
    /* an upload that failed is not yet back in the queue when the pause begins */
    stats->is_uploading = !tier_pauses_uploads(tier) || is_active;
    tier_unlock(tier);
}

ingot_status_t ingot_remote_get_stats(ingot_storage_t storage, ingot_remote_stats_t *stats)
{
    struct tier *tier = NULL;
    ingot_remote_stats_t known;
    if (!STRUCT_IS_SET(stats))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "stats or its struct_size is missing");
    const ingot_status_t status = find_tier(storage, &tier);
    if (status != INGOT_SUCCESS)
        return status;
    fill_stats(tier, &known);
    (void)STRUCT_WRITE(stats, known);
    return INGOT_SUCCESS;
}

ingot_status_t ingot_remote_has(ingot_storage_t storage, size_t id_size, const uint8_t *id)
{
    struct tier *tier = NULL;
    if (id == NULL || id_size == 0)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "id is missing or empty");
    const ingot_status_t status = find_tier(storage, &tier);
    return status == INGOT_SUCCESS ? tier_has(tier, id_size, id) : status;
}

ingot_status_t ingot_remote_list(ingot_storage_t storage, void (*visit)(void *user, const char *key), void *user)
{
    struct tier *tier = NULL;
    const ingot_status_t status = find_tier(storage, &tier);
    return status == INGOT_SUCCESS ? tier_list(tier, visit, user) : status;
}

ingot_status_t ingot_remote_key_of(ingot_storage_t storage, size_t id_size, const uint8_t *id,
                                   char key[INGOT_REMOTE_KEY_CAPACITY])
{
    struct tier *tier = NULL;
    const ingot_status_t status = find_tier(storage, &tier);
    if (status == INGOT_SUCCESS)
        object_key_of(tier->name_space, id_size, id, key);
    return status;
}

ingot_status_t ingot_remote_load_key(ingot_storage_t storage, const char *key, ingot_buffer_t *id, ingot_buffer_t *kept)
{
    struct tier *tier = NULL;
    const ingot_status_t status = find_tier(storage, &tier);
    return status == INGOT_SUCCESS ? tier_load_key(tier, key, id, kept) : status;
}

ingot_status_t ingot_remote_flush(ingot_storage_t storage, uint64_t max_time_ms)
{
    struct tier *tier = NULL;
    const ingot_status_t status = find_tier(storage, &tier);
    if (status != INGOT_SUCCESS)
        return status;
    const bool has_limit = max_time_ms != 0 && max_time_ms != INGOT_UNLIMITED;
    const uint64_t moment_ns = has_limit ? clock_now_ns() + limit_time_ns(max_time_ms, 0) : CLOCK_NEVER;
    const bool is_done = worker_wait(tier, moment_ns, false);
    return is_done ? INGOT_SUCCESS
                   : ingot_set_error_detail(INGOT_BUSY, "%zu uploads still wait", upload_queue_count(&tier->queue));
}
