/*
 * open.c - opens, finds and destroys remote tiers, reads their settings from the environment if the application asks
 * for it, and counts and waits for what they do. Credentials are in files, because others may see the environment.
 */
#include <ingot/backend.h>
#include <ingot/private/event.h>
#include <ingot/private/persist.h>
#include <ingot/private/remote.h>
#include <stdlib.h>
#include <string.h>

#include "remote/curl/curl.h"
#include "remote/tier/tier.h"
#include "util/environment.h"
#include "util/limit.h"
#include "util/nanoseconds.h"
#include "util/struct_size.h"
#include "util/thread.h"

#define DEFAULT_TIME_TO_LIVE_MS (UINT64_C(30) * 86400 * 1000)
#define DEFAULT_MAX_BYTES (UINT64_C(64) << 20)
#define MOST_BLOB_BYTES (UINT64_C(1) << 30)
#define KNOWN_FLAGS                                                                                                    \
    ((uint32_t)INGOT_REMOTE_READ_ONLY | (uint32_t)INGOT_REMOTE_FROM_ENVIRONMENT | (uint32_t)INGOT_REMOTE_NO_LEASES)
#define LEAST_LEASE_MS 100u
#define DEFAULT_LEASE_MS 120000u

/* ---- settings ---- */

static const struct setting trust_policy = {.name = "INGOT_PERSIST_TRUST",
                                            .size = 4,
                                            .offset = offsetof(ingot_persist_trust_t, policy),
                                            .words = {"none", "verify", "require"}, /* in the enumerators' order */
                                            .expected = "none, verify or require"};
/* In the order in which they are checked. */
static const struct setting own_settings[] = {
    {.name = "INGOT_PERSIST_REMOTE_MODE",
     .size = 4,
     .offset = offsetof(ingot_remote_info_t, flags),
     .flag = INGOT_REMOTE_READ_ONLY,
     .words = {"read-write", "read"},
     .expected = "read or read-write"},
    {"INGOT_PERSIST_REMOTE_MAX_AGE_DAYS", ENVIRONMENT_DAYS, 8, offsetof(ingot_remote_info_t, time_to_live_ms),
     .flag = 0},
    {"INGOT_PERSIST_REMOTE_LEASES", ENVIRONMENT_SWITCH, 4, offsetof(ingot_remote_info_t, flags),
     .flag = INGOT_REMOTE_NO_LEASES, .is_inverted = true},
};

static ingot_status_t read_setting(const struct setting *setting, void *info)
{
    const char *value = environment_value(setting->name);
    if (value == NULL || setting_read(setting, value, info))
        return INGOT_SUCCESS;
    return ingot_environment_refuse(setting->name, "%s: \"%.80s\" is not %s", setting->name, value,
                                    setting_expected(setting));
}

ingot_status_t tier_read_environment(ingot_remote_info_t *info, ingot_persist_trust_t *trust)
{
    ingot_remote_info_t read = INGOT_REMOTE_INFO_INIT;
    ingot_status_t status = INGOT_SUCCESS;
    if ((info->flags & (uint32_t)INGOT_REMOTE_FROM_ENVIRONMENT) == 0)
        return status;
    info->url = info->url != NULL ? info->url : environment_value("INGOT_PERSIST_REMOTE");
    if (info->url == NULL)
        return status;
    if (info->name_space == NULL)
        info->name_space = environment_value("INGOT_PERSIST_NAMESPACE");
    if (info->trust == NULL) {
        trust->key_files = environment_value("INGOT_PERSIST_KEYS");
        status = read_setting(&trust_policy, trust);
        info->trust = trust;
    }
    for (size_t i = 0; i < sizeof(own_settings) / sizeof(own_settings[0]) && status == INGOT_SUCCESS; ++i)
        status = read_setting(&own_settings[i], &read);
    info->flags |= read.flags;
    if (info->time_to_live_ms == 0)
        info->time_to_live_ms = read.time_to_live_ms;
    return status;
}

static ingot_status_t check_tier_info(const ingot_remote_info_t *info)
{
    if (info->url == NULL || info->url[0] == '\0')
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS,
                                      "no URL names a server: info.url is missing, or INGOT_PERSIST_REMOTE is not set");
    static const char known[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    const char *name = info->name_space != NULL ? info->name_space : "default";
    const size_t length = strnlen(name, TIER_NAME_SPACE_CAPACITY);
    if (length == 0 || length == TIER_NAME_SPACE_CAPACITY || strspn(name, known) != length || strcmp(name, ".") == 0 ||
        strcmp(name, "..") == 0)
        return ingot_set_error_detail(
            INGOT_INVALID_ARGUMENTS,
            "info.name_space \"%.80s\" is not 1 to 64 of A-Z, a-z, 0-9, \".\", \"_\" and \"-\"", info->name_space);
    if ((info->flags & ~KNOWN_FLAGS) != 0)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "info.flags has unknown bits %#x",
                                      (unsigned)(info->flags & ~KNOWN_FLAGS));
    const uint64_t amounts[] = {info->time_to_live_ms,  info->max_blob_bytes, info->connect_timeout_ms,
                                info->stall_timeout_ms, info->slow_ms,        info->retry_ms,
                                info->longest_retry_ms, info->lease_time_ms};
    for (size_t i = 0; i < sizeof(amounts) / sizeof(amounts[0]); ++i) {
        if (amounts[i] == INGOT_NONE)
            return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "info has INGOT_NONE where a tier needs an amount");
    }
    if (info->max_blob_bytes > MOST_BLOB_BYTES && info->max_blob_bytes != INGOT_UNLIMITED)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "info.max_blob_bytes is over 1 GiB");
    if (info->lease_time_ms != 0 && info->lease_time_ms < LEAST_LEASE_MS)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "info.lease_time_ms is %llu, and the least is %u",
                                      (unsigned long long)info->lease_time_ms, LEAST_LEASE_MS);
    return INGOT_SUCCESS;
}

void tier_free(struct tier *tier)
{
    leases_fini(tier);
    (void)pthread_cond_destroy(&tier->has_changed);
    (void)pthread_mutex_destroy(&tier->lock);
    if (tier->transport.ops != NULL)
        tier->transport.ops->destroy(tier->transport.self);
    secret_wipe(tier->access.secret);
    free(tier);
}

static ingot_status_t open_transport(struct tier *tier, const ingot_remote_info_t *info)
{
    const struct url *url = &tier->access.url;
    const uint64_t time_to_live_ms = limit_of(info->time_to_live_ms, DEFAULT_TIME_TO_LIVE_MS);
    const uint64_t time_to_live_s = time_to_live_ms / 1000 + (time_to_live_ms % 1000 != 0); /* Redis counts seconds */
    ingot_status_t status = access_init(&tier->access, info->url);
    if (status == INGOT_SUCCESS)
        status = library_init();
    if (status != INGOT_SUCCESS)
        return status;
    tier->protocol = url->scheme == URL_S3 ? "s3" : url->scheme >= URL_HTTP ? "http" : "redis";
    if (url->scheme >= URL_HTTP)
        return http_open(&tier->transport, &tier->access, tier->name_space);
    return redis_open(&tier->transport, &tier->access, tier->name_space,
                      time_to_live_ms == UINT64_MAX ? 0 : time_to_live_s);
}

ingot_status_t tier_make(const ingot_remote_info_t *info, struct tier **made)
{
    const uint64_t retry_ns = limit_time_ns(info->retry_ms, 1000);
    const uint64_t longest_ns = limit_time_ns(info->longest_retry_ms, 60000);
    const uint64_t blob_bytes = limit_of(info->max_blob_bytes, DEFAULT_MAX_BYTES);
    ingot_status_t status = check_tier_info(info);
    if (status != INGOT_SUCCESS)
        return status;
    struct tier *tier = calloc(1, sizeof(*tier));
    if (tier == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a remote tier");
    tier->flags = info->flags;
    tier->max_blob_bytes = (size_t)(blob_bytes < MOST_BLOB_BYTES ? blob_bytes : MOST_BLOB_BYTES);
    tier->connect_limit_ns = limit_time_ns(info->connect_timeout_ms, 250);
    tier->stall_limit_ns = limit_time_ns(info->stall_timeout_ms, 2000);
    tier->exit_time_ns = limit_time_ns(info->exit_time_ms, 1000);
    tier->lease_time_ms = limit_time_ns(info->lease_time_ms, DEFAULT_LEASE_MS) / NS_PER_MS;
    tier->slow_ns = limit_time_ns(info->slow_ms, 250);
    tier->max_waiting_bytes = limit_of(info->max_waiting_bytes, DEFAULT_MAX_BYTES);
    tier->max_waiting = (size_t)limit_of(info->max_waiting, 256);
    tier->on_event = info->on_event;
    tier->on_event_user = info->on_event_user;
    (void)strcpy(tier->name_space, info->name_space != NULL ? info->name_space : "default");
    atomic_init(&tier->is_ending, false);
    atomic_init(&tier->has_told_no_time, false);
    pauses_init(&tier->upload_pauses, retry_ns, longest_ns, nanoseconds_now() ^ (uintptr_t)tier);
    pthread_mutex_init(&tier->lock, NULL);
    thread_condition_init(&tier->has_changed);
    status = open_transport(tier, info);
    if (status == INGOT_SUCCESS) {
        tier->guard = guard_of_server(
            info->url, info->lost_time_ms == INGOT_UNLIMITED ? UINT64_MAX : limit_time_ns(info->lost_time_ms, 2000),
            retry_ns, longest_ns);
        if (tier->guard == NULL)
            status = ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a remote tier");
    }
    if (status == INGOT_SUCCESS)
        *made = tier;
    else
        tier_free(tier);
    return status;
}

/* ---- the storage ---- */

static void destroy_tier(void *self)
{
    tier_finish(self);
    tier_free(self);
}

ingot_status_t tier_find(ingot_storage_t storage, struct tier **found)
{
    void *self = NULL;
    if (storage == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "storage is NULL");
    const ingot_status_t status = ingot_storage_get_self(storage, destroy_tier, &self);
    *found = self;
    return status == INGOT_SUCCESS
               ? status
               : ingot_set_error_detail(INGOT_UNIMPLEMENTED,
                                        "the storage is not a remote tier that this process opened");
}

/* Creates the storage, which owns the tier from then on. */
static ingot_status_t make_storage(ingot_storage_t *storage, struct tier *tier, const ingot_remote_info_t *info)
{
    ingot_storage_ops_t ops = {.struct_size = sizeof(ops), .load = tier_load, .destroy = destroy_tier};
    ingot_persist_trust_t trust = INGOT_PERSIST_TRUST_INIT;
    if ((tier->flags & (uint32_t)INGOT_REMOTE_READ_ONLY) == 0) {
        ops.store = tier_store;
        ops.remove = tier_remove;
        ops.leave_wish = tier->transport.ops->leave_wish != NULL ? tier_leave_wish : NULL;
        if (tier->transport.ops->take_lease != NULL && (tier->flags & (uint32_t)INGOT_REMOTE_NO_LEASES) == 0) {
            ops.take_lease = tier_take_lease;
            ops.end_lease = tier_end_lease;
        }
    }
    ingot_status_t status = ingot_storage_create(storage, &ops, tier);
    if (status != INGOT_SUCCESS) {
        tier_free(tier);
        return status;
    }
    if (info->trust != NULL && !STRUCT_READ_OVER(trust, info->trust))
        status = ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the struct_size of info.trust is missing");
    else if (trust.policy != INGOT_PERSIST_TRUST_NONE)
        status = ingot_persist_set_trust(*storage, &trust);
    if (status != INGOT_SUCCESS)
        ingot_storage_release(*storage);
    return status;
}

ingot_status_t ingot_remote_open(ingot_storage_t *storage, const ingot_remote_info_t *info)
{
    ingot_remote_info_t known = INGOT_REMOTE_INFO_INIT;
    const ingot_persist_settings_t settings = {.struct_size = sizeof(settings), .write_through = 1};
    ingot_persist_trust_t trust = INGOT_PERSIST_TRUST_INIT;
    struct tier *tier = NULL;
    ingot_storage_t remote = NULL;
    if (storage == NULL || !STRUCT_READ_OVER(known, info))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "storage, info or its struct_size is missing");
    ingot_status_t status = tier_read_environment(&known, &trust);
    if (status == INGOT_SUCCESS && known.url == NULL && (known.flags & (uint32_t)INGOT_REMOTE_FROM_ENVIRONMENT) != 0) {
        ingot_storage_retain(known.local);
        *storage = known.local;
        return status;
    }
    if (status == INGOT_SUCCESS)
        status = tier_make(&known, &tier);
    if (status == INGOT_SUCCESS)
        status = make_storage(&remote, tier, &known);
    if (status != INGOT_SUCCESS)
        return status;
    if (known.local == NULL) {
        *storage = remote;
        return INGOT_SUCCESS;
    }
    const ingot_storage_t chained[] = {known.local, remote}; /* both store */
    status = ingot_persist_set_settings(remote, &settings);
    if (status == INGOT_SUCCESS)
        status = ingot_persist_chain(storage, 2, chained);
    ingot_storage_release(remote); /* the chain has its own reference */
    return status;
}

/* ---- questions of the application ---- */

ingot_status_t ingot_remote_get_stats(ingot_storage_t storage, ingot_remote_stats_t *stats)
{
    struct tier *tier = NULL;
    const ingot_status_t status = tier_find(storage, &tier);
    if (status != INGOT_SUCCESS)
        return status;
    tier_lock(tier);
    const bool is_active = tier->active != NULL;
    *stats = tier->counts;
    stats->waiting = tier->waiting_count + is_active;
    /* an upload that failed is not yet back in the queue when the pause begins */
    stats->is_uploading = !tier_pauses_uploads(tier) || is_active;
    guard_lock();
    stats->pauses = tier->guard->pause_count;
    stats->lost_ns = tier->guard->total_ns;
    stats->is_asking = !guard_is_paused(tier->guard);
    guard_unlock();
    tier_unlock(tier);
    return INGOT_SUCCESS;
}

ingot_status_t ingot_remote_flush(ingot_storage_t storage, uint64_t max_time_ms)
{
    struct tier *tier = NULL;
    const ingot_status_t status = tier_find(storage, &tier);
    if (status != INGOT_SUCCESS)
        return status;
    return tier_wait_for_uploads(tier, limit_moment_ns(max_time_ms), false)
               ? INGOT_SUCCESS
               : ingot_set_error_detail(INGOT_BUSY, "uploads still wait");
}
