/*
 * cache.c - opens, flushes and releases caches.
 *
 * A storage that cannot be used never makes an application fail, because a cache is only there to save time. So
 * ingot_cache_open reports such a storage, and the cache compiles instead.
 */
#include "front/cache.h"

#include <ingot/backend.h>
#include <ingot/persist.h>
#include <ingot/private/event.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/context/environment.h"
#include "core/memo/header_memo.h"
#include "front/builders.h"
#include "front/lock.h"
#include "front/settings.h"
#include "persist/base/files.h"
#include "persist/probes/probes.h"
#include "persist/storage/storage.h"
#include "util/limit.h"
#include "util/memory.h"
#include "util/nanoseconds.h"
#include "util/struct_size.h"

#ifdef INGOT_CACHE_HAS_REMOTE
#include <ingot/remote.h>
#endif

void cache_tell(const struct ingot_cache *cache, ingot_event_kind_t kind, ingot_status_t status, const char *name,
                const char *reason)
{
    ingot_event_t event = INGOT_EVENT_INIT;
    event.kind = kind;
    event.status = status;
    event.name = name != NULL ? name : "";
    event.reason = reason;
    if (trace_wanted(&cache->trace))
        trace_emit(&cache->trace, &event);
}

ingot_status_t cache_refuse(const struct ingot_cache *cache, ingot_status_t status)
{
    if (cache == NULL || cache->storage == NULL)
        return ingot_set_error_detail(status, "the cache has no storage");
    if (storage_is_first_refusal(cache->storage)) { /* told here, because INGOT_TRACE does not get a storage's events */
        (void)storage_refuse(cache->storage, status);
        cache_tell(cache, INGOT_EVENT_STORAGE_DEGRADED, INGOT_READ_ONLY, NULL, ingot_last_error_detail());
    }
    return storage_refuse(cache->storage, status);
}

ingot_status_t cache_check(const struct ingot_cache *cache)
{
    const bool is_here = cache == NULL || cache->storage == NULL || storage_is_here(cache->storage);
    return is_here ? INGOT_SUCCESS : cache_refuse(cache, INGOT_READ_ONLY);
}

/* Returns the status if a failure to open this storage must make ingot_cache_open fail. Otherwise, reports an event and
 * returns INGOT_SUCCESS. */
static ingot_status_t judge_open_failure(const struct ingot_cache *cache, const ingot_cache_info_t *info,
                                         ingot_status_t status, const char *name)
{
    if (status == INGOT_OUT_OF_MEMORY || (info->flags & (uint32_t)INGOT_CACHE_OPEN_STRICT) != 0)
        return status;
    cache_tell(cache, INGOT_EVENT_STORAGE_DEGRADED, status, name, ingot_last_error_detail()); /* keeps the detail */
    return INGOT_SUCCESS;
}

static ingot_status_t add_remote(struct ingot_cache *cache, const ingot_cache_info_t *info)
{
    ingot_status_t status = settings_open_remote(info, &cache->remote);
    if (status == INGOT_SUCCESS) {
        /* Puts the remote tier behind the directory store, in a chain that stores in both. */
        const ingot_persist_settings_t settings = {.struct_size = sizeof(settings), .write_through = 1};
        const ingot_storage_t tiers[] = {cache->storage, cache->remote};
        ingot_storage_t both = NULL;
        status = ingot_persist_set_settings(cache->remote, &settings);
        if (status == INGOT_SUCCESS)
            status = ingot_persist_chain(&both, 2, tiers);
        if (status != INGOT_SUCCESS)
            return status;
        ingot_storage_release(cache->storage); /* the chain has its own reference */
        cache->storage = both;
        return INGOT_SUCCESS;
    }
    if (status == INGOT_NOT_FOUND && info->remote == NULL && settings_variable(info, "INGOT_PERSIST_REMOTE") == NULL)
        return INGOT_SUCCESS;
    if (status == INGOT_INVALID_ARGUMENTS && info->remote != NULL)
        return status;
    if (status == INGOT_INVALID_ARGUMENTS && strncmp(ingot_last_error_detail(), "INGOT_", 6) != 0)
        (void)ingot_environment_refuse("INGOT_PERSIST_REMOTE", "INGOT_PERSIST_REMOTE: %s", ingot_last_error_detail());
    return judge_open_failure(cache, info, status, info->remote);
}

/* Makes the memo of included files, unless the environment turns it off. Failures only cost time: without a memo, each
 * request reads all included files, and if the store cannot keep it, each process reads them once. */
static void make_memo(void *opaque, void *opaque_info)
{
    struct ingot_cache *cache = opaque;
    const ingot_cache_info_t *info = opaque_info;
    if (cache->storage == NULL || settings_turn_off(info, "INGOT_HEADER_MEMO"))
        return;
    if (header_memo_create(&cache->memo, &memory_c_allocator, MEMO_SETTLE_NS) == INGOT_SUCCESS)
        (void)probes_keep(cache->storage, cache->memo);
}

/* Reads what does not depend on the storage. */
static void read_cache_settings(struct ingot_cache *cache, const ingot_cache_info_t *info)
{
    trace_init(&cache->trace, info->on_event, info->on_event_user, settings_variable(info, "INGOT_TRACE"));
    cache->adds_options = settings_variable(info, "INGOT_COMPILE_OPTIONS") != NULL ||
                          settings_variable(info, "INGOT_LINK_OPTIONS") != NULL;
    cache->on_miss = settings_on_miss(info);
    if ((info->flags & (uint32_t)INGOT_CACHE_OPEN_IGNORE_ENVIRONMENT) == 0) {
        (void)metrics_begin(&cache->metrics);
        environment_tell_unknown(&cache->trace);
    }
}

static ingot_status_t init_cache(struct ingot_cache *cache, const ingot_cache_info_t *info)
{
    read_cache_settings(cache, info);
    if (settings_turn_off(info, "INGOT_PERSIST")) {
        (void)ingot_set_error_detail(INGOT_NOT_FOUND, "INGOT_PERSIST is off");
        return INGOT_SUCCESS;
    }
    const ingot_status_t status = settings_open_directory(info, &cache->storage);
    return status == INGOT_SUCCESS ? add_remote(cache, info) : judge_open_failure(cache, info, status, info->directory);
}

ingot_status_t ingot_cache_open(ingot_cache_t *out, const ingot_cache_info_t *info)
{
    static const ingot_cache_info_t defaults = INGOT_CACHE_INFO_INIT;
    ingot_cache_info_t known;
    if (out == NULL || !STRUCT_READ(known, info != NULL ? info : &defaults))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "cache is NULL, or info.struct_size is not set");
    ingot_status_t status = settings_check(&known);
    if (status != INGOT_SUCCESS)
        return status;
    struct ingot_cache *cache = calloc(1, sizeof(*cache));
    if (cache == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a cache");
    status = init_cache(cache, &known);
    if (status != INGOT_SUCCESS) {
        ingot_cache_release(cache);
        return status;
    }
    error_keep(make_memo, cache, &known); /* the detail may say why the cache has no storage */
    cache->builders = builders_create(settings_builders(&known), known.remote,
                                      (known.flags & (uint32_t)INGOT_CACHE_OPEN_IGNORE_ENVIRONMENT) != 0);
    *out = cache;
    return INGOT_SUCCESS;
}

ingot_status_t cache_open_over(struct ingot_cache **out, ingot_storage_t storage, ingot_event_callback_t on_event)
{
    const ingot_cache_info_t info = {.struct_size = sizeof(info), .on_event = on_event};
    struct ingot_cache *cache = calloc(1, sizeof(*cache));
    if (cache == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a cache");
    read_cache_settings(cache, &info);
    if (cache->on_miss == INGOT_PERSIST_ON_MISS_LATER) /* a layer's application does not ask again */
        cache->on_miss = INGOT_PERSIST_ON_MISS_COMPILE;
    if (storage != NULL)
        ingot_storage_retain(storage);
    cache->storage = storage;
    *out = cache;
    return INGOT_SUCCESS;
}

static void store_waiting(void *storage, void *unused)
{
    (void)unused;
    (void)ingot_persist_flush(storage, NULL, NULL); /* events report failures */
    deferred_await(storage);
}

void ingot_cache_release(ingot_cache_t cache)
{
    if (cache == NULL || (cache->storage != NULL && cache_storage(cache) == NULL))
        return; /* a forked child leaks its parent's cache */
    /* Programs that wait in the storage, or that another thread is storing, hold contexts whose events come to this
     * cache, which a storage that the application retained would outlive. */
    if (cache->storage != NULL)
        error_keep(store_waiting, cache->storage, NULL);
    lock_take();
    for (struct begun_program *begun = cache->begun; begun != NULL; begun = begun->next)
        begun->cache = NULL;
    cache->begun = NULL;
    lock_give();
    builders_destroy(cache->builders);
    ingot_storage_release(cache->storage);
    ingot_storage_release(cache->remote);
    header_memo_release(cache->memo);
    targets_fini(&cache->targets);
    metrics_end(&cache->metrics);
    trace_fini(&cache->trace);
    free(cache);
}

/* Waits for uploads. */
static ingot_status_t flush_remote(const struct ingot_cache *cache, uint64_t end_ns)
{
#ifdef INGOT_CACHE_HAS_REMOTE
    if (cache->remote != NULL) {
        const uint64_t now_ns = files_steady_clock_ns();
        const uint64_t left_ms = end_ns > now_ns ? (end_ns - now_ns) / NS_PER_MS : 0;
        return ingot_remote_flush(cache->remote, end_ns == NS_NEVER ? INGOT_UNLIMITED : limit_given(left_ms));
    }
#endif
    (void)cache;
    (void)end_ns;
    return INGOT_SUCCESS;
}

ingot_status_t ingot_cache_flush(ingot_cache_t cache, uint64_t max_time_ms)
{
    ingot_persist_flush_info_t info = INGOT_PERSIST_FLUSH_INFO_INIT;
    const ingot_status_t checked = cache_check(cache);
    if (checked != INGOT_SUCCESS || cache == NULL || cache->storage == NULL)
        return checked;
    info.max_time_ms = max_time_ms;
    const uint64_t end_ns = limit_moment_ns(max_time_ms);
    const ingot_status_t status = ingot_persist_flush(cache->storage, &info, NULL);
    const ingot_status_t of_remote = flush_remote(cache, end_ns);
    return status != INGOT_SUCCESS ? status : of_remote;
}

ingot_status_t ingot_cache_get_storage(ingot_cache_t cache, ingot_storage_t *storage)
{
    if (storage == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "storage is NULL");
    if (cache_storage(cache) == NULL)
        return cache_refuse(cache, INGOT_NOT_FOUND);
    *storage = cache->storage;
    return INGOT_SUCCESS;
}
