/*
 * environment.c - reads the settings of persistence from the environment. No other file in src/persist reads the
 * environment.
 *
 * The environment is read only if an application asks for it, because a library that writes wherever the environment
 * says surprises its users. An invalid value is an error: if a mistyped limit were ignored, the store could fill the
 * disk. A value without effect is not an error, for example the limit of a store that is off or read-only.
 */
#include "persist/storage/storage.h"

#include <ingot/backend.h>
#include <ingot/private/event.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "persist/directory/format/paths.h"
#include "util/environment.h"
#include "util/struct_size.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

struct environment {
    environment_lookup_t lookup;
    void *user;
};

/* The settings of a store. Their texts belong to the caller and to the environment. */
struct environment_settings {
    ingot_persist_info_t info; /* info.trust points to the next field */
    ingot_persist_trust_t trust;
    char root[PATH_MAX]; /* unless a variable has the whole path */
};

/* Returns the value of an environment variable, or NULL if it is unset or empty. */
static const char *variable_value(const struct environment *environment, const char *name)
{
    const char *value = environment->lookup(name, environment->user);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

static ingot_status_t fail_bad_setting(const char *name, const char *value, const char *expected)
{
    return ingot_environment_refuse(name, "%s: \"%.80s\" is not %s", name, value, expected);
}

/* The settings of all stores, and those that only a writable store uses, in the order in which they are checked. Words
 * are in the order of the enumerators. */
static const struct setting policies[] = {
    {"INGOT_PERSIST_READ_ONLY", ENVIRONMENT_SWITCH, 4, offsetof(ingot_persist_info_t, flags),
     .flag = INGOT_PERSIST_READ_ONLY},
    {"INGOT_PERSIST_MAX_AGE_DAYS", ENVIRONMENT_DAYS, 8, offsetof(ingot_persist_info_t, max_age_ms), .flag = 0},
    {.name = "INGOT_PERSIST_EVICTION",
     .size = 4,
     .offset = offsetof(ingot_persist_info_t, eviction),
     .words = {"lru", "fifo", "off"},
     .expected = "lru, fifo or off"},
    {.name = "INGOT_ON_MISS",
     .size = 4,
     .offset = offsetof(ingot_persist_info_t, on_miss),
     .words = {"compile", "report", "fail", "later"},
     .expected = "compile, report, fail or later",
     .strictest = INGOT_PERSIST_ON_MISS_FAIL},
};
static const struct setting trust_policy = {.name = "INGOT_PERSIST_TRUST",
                                            .size = 4,
                                            .offset = offsetof(ingot_persist_trust_t, policy),
                                            .words = {"none", "verify", "require"},
                                            .expected = "none, verify or require"};
static const struct setting of_writers[] = {
    {"INGOT_PERSIST_MAX_SIZE", ENVIRONMENT_SIZE, 8, offsetof(ingot_persist_info_t, max_bytes), .flag = 0},
    {"INGOT_PERSIST_MAX_ENTRIES", ENVIRONMENT_SIZE, 8, offsetof(ingot_persist_info_t, max_entries), .flag = 0},
    {"INGOT_PERSIST_MIN_BLOB", ENVIRONMENT_SIZE, 8, offsetof(ingot_persist_info_t, min_blob_bytes), .flag = 0},
    {"INGOT_PERSIST_MAX_BLOB", ENVIRONMENT_SIZE, 8, offsetof(ingot_persist_info_t, max_blob_bytes), .flag = 0},
    {"INGOT_PERSIST_LOCK_TIMEOUT", ENVIRONMENT_TIME, 8, offsetof(ingot_persist_info_t, lock_timeout_ms), .flag = 0},
    {"INGOT_PERSIST_BUILD_WAIT", ENVIRONMENT_TIME, 8, offsetof(ingot_persist_info_t, build_wait_ms), .flag = 0},
    {"INGOT_BUILD_JOBS", ENVIRONMENT_SIZE, 8, offsetof(ingot_persist_info_t, build_jobs), .flag = 0},
    {"INGOT_PERSIST_REQUESTS", ENVIRONMENT_SWITCH, 4, offsetof(ingot_persist_info_t, flags),
     .flag = INGOT_PERSIST_KEEP_REQUESTS},
    {.name = "INGOT_PERSIST_STORE_MODE",
     .size = 4,
     .offset = offsetof(ingot_persist_info_t, store_mode),
     .words = {"auto", "now", "flush"},
     .expected = "auto, now or flush"},
};

static ingot_status_t read_setting_list(const struct environment *environment, size_t count,
                                        const struct setting *settings, void *info)
{
    for (size_t i = 0; i < count; ++i) {
        const char *value = variable_value(environment, settings[i].name);
        if (value == NULL || setting_read(&settings[i], value, info))
            continue;
        const ingot_status_t status = fail_bad_setting(settings[i].name, value, setting_expected(&settings[i]));
        if (settings[i].strictest == 0)
            return status;
        (void)setting_read(&settings[i], settings[i].words[settings[i].strictest], info);
    }
    return INGOT_SUCCESS;
}

static ingot_status_t read_trust(const struct environment *environment, ingot_persist_trust_t *trust)
{
    const char *key_files = variable_value(environment, "INGOT_PERSIST_KEYS"); /* checked when the store is opened */
    ingot_status_t status = read_setting_list(environment, 1, &trust_policy, trust);
    /* keys that no policy uses would give a false sense of protection */
    if (status == INGOT_SUCCESS && key_files != NULL && trust->policy == INGOT_PERSIST_TRUST_NONE &&
        variable_value(environment, "INGOT_PERSIST_TRUST") == NULL)
        status = ingot_environment_refuse("INGOT_PERSIST_KEYS", "INGOT_PERSIST_KEYS has no effect: set "
                                                                "INGOT_PERSIST_TRUST to verify or require, too");
    if (key_files != NULL)
        trust->key_files = key_files;
    return status;
}

static ingot_status_t read_policies(const struct environment *environment, ingot_persist_info_t *info)
{
    ingot_status_t status = read_setting_list(environment, COUNT_OF(policies), policies, info);
    if (status != INGOT_SUCCESS)
        return status;
    ingot_persist_info_t written = *info;
    written.build_wait_ms = 0;
    status = read_setting_list(environment, COUNT_OF(of_writers), of_writers, &written);
    if (written.build_wait_ms == 0)
        written.build_wait_ms = info->build_wait_ms;
    else /* overrides the application's NO_BUILD_WAIT */
        written.flags &= ~(uint32_t)INGOT_PERSIST_NO_BUILD_WAIT;
    if (status == INGOT_SUCCESS)
        *info = written;
    return (info->flags & (uint32_t)INGOT_PERSIST_READ_ONLY) != 0 ? INGOT_SUCCESS : status;
}

/* Sets the root to a folder of `directory`. */
static ingot_status_t set_root_folder(struct environment_settings *settings, const char *directory, const char *folder)
{
    if (snprintf(settings->root, sizeof(settings->root), "%s%s", directory, folder) >= PATH_MAX)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the path of the store is too long");
    settings->info.path = settings->root;
    settings->info.flags |= INGOT_PERSIST_MAKE_PARENTS;
    return INGOT_SUCCESS;
}

static ingot_status_t find_root(const struct environment *environment, struct environment_settings *settings)
{
    settings->info.path = variable_value(environment, "INGOT_PERSIST_DIR");
    if (settings->info.path != NULL)
        return INGOT_SUCCESS;
    const char *cache = variable_value(environment, "XDG_CACHE_HOME");
    const char *home = variable_value(environment, "HOME");
    if (cache != NULL && cache[0] == '/')
        return set_root_folder(settings, cache, "/ingot");
    if (home != NULL && home[0] == '/')
        return set_root_folder(settings, home, "/.cache/ingot");
    return ingot_set_error_detail(INGOT_NOT_FOUND, "none of INGOT_PERSIST_DIR, XDG_CACHE_HOME and HOME is set");
}

static ingot_status_t read_environment(struct environment_settings *settings, const ingot_persist_info_t *defaults,
                                       const struct environment *environment)
{
    uint64_t is_on = 1;
    memset(settings, 0, sizeof(*settings));
    settings->trust = (ingot_persist_trust_t)INGOT_PERSIST_TRUST_INIT;
    settings->info = (ingot_persist_info_t)INGOT_PERSIST_INFO_INIT;
    if (defaults != NULL && !STRUCT_READ_OVER(settings->info, defaults))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the struct_size of defaults is missing");
    if (settings->info.trust != NULL && !STRUCT_READ_OVER(settings->trust, settings->info.trust))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the struct_size of defaults->trust is missing");
    settings->info.trust = &settings->trust;
    const char *value = variable_value(environment, "INGOT_PERSIST");
    if (value != NULL && !environment_parse(ENVIRONMENT_SWITCH, value, &is_on))
        return fail_bad_setting("INGOT_PERSIST", value, environment_expected(ENVIRONMENT_SWITCH));
    if (is_on == 0)
        return ingot_set_error_detail(INGOT_NOT_FOUND, "INGOT_PERSIST is off");
    ingot_status_t status = read_policies(environment, &settings->info);
    if (status == INGOT_SUCCESS)
        status = read_trust(environment, &settings->trust);
    if (status == INGOT_SUCCESS)
        status = find_root(environment, settings);
    if (status != INGOT_SUCCESS)
        return status;
    /* These point to the values in the environment. */
    const char *name_space = variable_value(environment, "INGOT_PERSIST_NAMESPACE");
    const char *record_path = variable_value(environment, "INGOT_RECORD"); /* checked when the store is opened */
    if (name_space != NULL && !paths_is_namespace(name_space))
        return fail_bad_setting("INGOT_PERSIST_NAMESPACE", name_space, "the name of a namespace");
    if (name_space != NULL)
        settings->info.name_space = name_space;
    if (record_path != NULL)
        settings->info.record_path = record_path;
    return INGOT_SUCCESS;
}

static const char *get_environment_variable(const char *name, void *user)
{
    (void)user;
    return secure_getenv(name);
}

ingot_status_t persist_environment_open(ingot_storage_t *storage, const ingot_persist_info_t *defaults,
                                        environment_lookup_t lookup, void *user)
{
    const struct environment environment = {lookup != NULL ? lookup : get_environment_variable, user};
    struct environment_settings settings;
    if (storage == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "storage is NULL");
    ingot_status_t status = read_environment(&settings, defaults, &environment);
    if (status == INGOT_SUCCESS && settings.info.adjust != NULL)
        status = settings.info.adjust(&settings.info, settings.info.adjust_user);
    settings.info.flags &= ~(uint32_t)INGOT_PERSIST_FROM_ENVIRONMENT;
    return status == INGOT_SUCCESS ? ingot_persist_open(storage, &settings.info) : status;
}
