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
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/context/environment.h"
#include "core/memo/header_memo.h"
#include "front/builders.h"
#include "persist/base/base.h"
#include "persist/directory/format/paths.h"
#include "persist/probes/probes.h"
#include "persist/storage/storage.h"
#include "util/environment.h"
#include "util/limit.h"
#include "util/memory.h"
#include "util/nanoseconds.h"
#include "util/struct_size.h"

#ifdef INGOT_CACHE_HAS_REMOTE
#include <ingot/remote.h>
#endif

/* ---- the settings ----
 *
 * If a field of the info overrides an environment variable, the variable is not read, so its value need not be valid.
 * Persist and remote read all other variables. */

#define MOST_BUILDERS 1024u
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static bool has_flag(const ingot_cache_info_t *info, ingot_cache_open_flags_t flag)
{
    return (info->flags & (uint32_t)flag) != 0;
}

/* Checks the fields that do not depend on the environment. */
static ingot_status_t settings_check(const ingot_cache_info_t *info)
{
    const uint32_t known = INGOT_CACHE_OPEN_READ_ONLY | INGOT_CACHE_OPEN_IGNORE_ENVIRONMENT | INGOT_CACHE_OPEN_STRICT |
                           INGOT_CACHE_OPEN_REPORT_MISSES | INGOT_CACHE_OPEN_FAIL_ON_MISS |
                           INGOT_CACHE_OPEN_COMPILE_MISSES | INGOT_CACHE_OPEN_LATER;
    if ((info->flags & ~known) != 0)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "info.flags has unknown flags: %#x",
                                      (unsigned)info->flags);
    if (info->directory != NULL && (info->directory[0] == '\0' || strlen(info->directory) >= PATH_MAX))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "info.directory is empty or too long");
    if (info->name_space != NULL && !paths_is_namespace(info->name_space))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "info.name_space: \"%.80s\" is not a valid namespace",
                                      info->name_space);
    if (info->builders > MOST_BUILDERS && info->builders != INGOT_NONE)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "info.builders is more than %u", MOST_BUILDERS);
    return INGOT_SUCCESS;
}

/* Returns the value of an environment variable, or NULL if it is unset or empty, or if the cache does not read it. */
static const char *settings_variable(const ingot_cache_info_t *info, const char *name)
{
    const bool is_of_ingot = strncmp(name, "INGOT_", 6) == 0;
    const char *value = is_of_ingot && has_flag(info, INGOT_CACHE_OPEN_IGNORE_ENVIRONMENT) ? NULL : secure_getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

/* True if this environment variable turns something off. */
static bool settings_turn_off(const ingot_cache_info_t *info, const char *name)
{
    const char *value = settings_variable(info, name);
    uint64_t is_on = 1;
    return value != NULL && environment_parse(ENVIRONMENT_SWITCH, value, &is_on) && is_on == 0;
}

/* Returns what to do about a program that the cache does not have. */
static ingot_persist_on_miss_t settings_on_miss(const ingot_cache_info_t *info)
{
    static const char *const words[] = {"compile", "report", "fail", "later"}; /* in the order of the enumerators */
    size_t chosen = INGOT_PERSIST_ON_MISS_COMPILE;
    const char *value = settings_variable(info, "INGOT_ON_MISS");
    if (has_flag(info, INGOT_CACHE_OPEN_FAIL_ON_MISS))
        return INGOT_PERSIST_ON_MISS_FAIL;
    if (has_flag(info, INGOT_CACHE_OPEN_REPORT_MISSES))
        return INGOT_PERSIST_ON_MISS_REPORT;
    if (has_flag(info, INGOT_CACHE_OPEN_LATER))
        return INGOT_PERSIST_ON_MISS_LATER;
    if (has_flag(info, INGOT_CACHE_OPEN_COMPILE_MISSES))
        return INGOT_PERSIST_ON_MISS_COMPILE;
    if (value != NULL && !environment_choose(value, COUNT_OF(words), words, &chosen)) {
        (void)ingot_environment_refuse("INGOT_ON_MISS",
                                       "INGOT_ON_MISS: \"%.80s\" is not compile, report, fail or later", value);
        chosen = INGOT_PERSIST_ON_MISS_FAIL;
    }
    return (ingot_persist_on_miss_t)chosen;
}

/* Returns how many builders may work; 0: none. */
static uint64_t settings_builders(const ingot_cache_info_t *info)
{
    const char *value = info->builders == 0 ? settings_variable(info, "INGOT_BUILDERS") : NULL;
    uint64_t count = info->builders;
    if (value != NULL &&
        (!environment_parse(ENVIRONMENT_SIZE, value, &count) || (count > MOST_BUILDERS && count != INGOT_NONE))) {
        (void)ingot_environment_refuse("INGOT_BUILDERS", "INGOT_BUILDERS: \"%.80s\" is not a number up to %u, or none",
                                       value, MOST_BUILDERS);
        count = 0;
    }
    return count == INGOT_NONE ? 0 : count;
}

/* Looks up a variable for persist. Variables that a field of the info overrides count as unset, except that of the
 * directory, which gets the field's value; so does the one that the cache has read itself. */
static const char *look_up_variable(const char *name, void *user)
{
    const ingot_cache_info_t *info = user;
    const struct {
        const char *name;
        bool is_hidden;
    } fields[] = {
        {"INGOT_PERSIST_NAMESPACE", info->name_space != NULL},
        {"INGOT_PERSIST_MAX_SIZE", info->max_bytes != 0},
        {"INGOT_PERSIST_READ_ONLY", has_flag(info, INGOT_CACHE_OPEN_READ_ONLY)},
        {"INGOT_ON_MISS", true},
    };
    if (info->directory != NULL && strcmp(name, "INGOT_PERSIST_DIR") == 0)
        return info->directory;
    for (size_t i = 0; i < COUNT_OF(fields); ++i) {
        if (fields[i].is_hidden && strcmp(name, fields[i].name) == 0)
            return NULL;
    }
    return settings_variable(info, name);
}

/* Opens the directory store. */
static ingot_status_t settings_open_directory(const ingot_cache_info_t *info, ingot_persist_on_miss_t on_miss,
                                              ingot_storage_t *storage)
{
    ingot_cache_info_t fields = *info;
    ingot_persist_info_t defaults = {.struct_size = sizeof(defaults),
                                     .name_space = info->name_space,
                                     .max_bytes = info->max_bytes,
                                     .on_event = info->on_event,
                                     .on_event_user = info->on_event_user,
                                     .on_miss = on_miss};
    if (has_flag(info, INGOT_CACHE_OPEN_READ_ONLY))
        defaults.flags |= (uint32_t)INGOT_PERSIST_READ_ONLY;
    if (info->directory != NULL)
        defaults.flags |= (uint32_t)INGOT_PERSIST_MAKE_PARENTS;
    return persist_environment_open(storage, &defaults, look_up_variable, &fields);
}

#ifdef INGOT_CACHE_HAS_REMOTE

/* If a server is named, makes the storage a chain of the storage and a remote tier, which stores in both. */
static ingot_status_t settings_add_remote(const ingot_cache_info_t *info, ingot_storage_t *storage)
{
    ingot_remote_info_t settings = INGOT_REMOTE_INFO_INIT;
    ingot_storage_t both = NULL;
    settings.url = info->remote;
    settings.name_space = info->name_space;
    settings.on_event = info->on_event;
    settings.on_event_user = info->on_event_user;
    settings.local = *storage;
    if (!has_flag(info, INGOT_CACHE_OPEN_IGNORE_ENVIRONMENT))
        settings.flags |= (uint32_t)INGOT_REMOTE_FROM_ENVIRONMENT;
    else if (info->remote == NULL)
        return INGOT_SUCCESS;
    if (has_flag(info, INGOT_CACHE_OPEN_READ_ONLY))
        settings.flags |= (uint32_t)INGOT_REMOTE_READ_ONLY;
    const ingot_status_t status = ingot_remote_open(&both, &settings);
    if (status != INGOT_SUCCESS)
        return status;
    ingot_storage_release(*storage); /* the chain has its own reference */
    *storage = both;
    return INGOT_SUCCESS;
}

#else

static ingot_status_t settings_add_remote(const ingot_cache_info_t *info, ingot_storage_t *storage)
{
    (void)storage;
    if (info->remote == NULL && settings_variable(info, "INGOT_PERSIST_REMOTE") == NULL)
        return INGOT_SUCCESS;
    return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "this build of Ingot has no remote tiers");
}

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
    if (status == INGOT_OUT_OF_MEMORY || has_flag(info, INGOT_CACHE_OPEN_STRICT))
        return status;
    cache_tell(cache, INGOT_EVENT_STORAGE_DEGRADED, status, name, ingot_last_error_detail()); /* keeps the detail */
    return INGOT_SUCCESS;
}

static ingot_status_t add_remote(struct ingot_cache *cache, const ingot_cache_info_t *info)
{
    const ingot_status_t status = settings_add_remote(info, &cache->storage);
    if (status == INGOT_SUCCESS || (status == INGOT_INVALID_ARGUMENTS && info->remote != NULL))
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
    if (!has_flag(info, INGOT_CACHE_OPEN_IGNORE_ENVIRONMENT)) {
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
    const ingot_status_t status = settings_open_directory(info, cache->on_miss, &cache->storage);
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
    cache->builders =
        builders_create(settings_builders(&known), known.remote, has_flag(&known, INGOT_CACHE_OPEN_IGNORE_ENVIRONMENT));
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
    pending_leave_cache(cache);
    builders_destroy(cache->builders);
    ingot_storage_release(cache->storage);
    header_memo_release(cache->memo);
    targets_fini(cache);
    metrics_end(&cache->metrics);
    trace_fini(&cache->trace);
    free(cache);
}

/* Waits for uploads. */
static ingot_status_t flush_remote(const struct ingot_cache *cache, uint64_t end_ns)
{
#ifdef INGOT_CACHE_HAS_REMOTE
    const ingot_storage_t remote = storage_tier(cache->storage, 1); /* behind the directory store */
    if (remote != NULL) {
        const uint64_t now_ns = files_steady_clock_ns();
        const uint64_t left_ms = end_ns > now_ns ? (end_ns - now_ns) / NS_PER_MS : 0;
        return ingot_remote_flush(remote, end_ns == NS_NEVER ? INGOT_UNLIMITED : limit_given(left_ms));
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
