/*
 * environment.c - reads the settings of persistence from the environment. No other file in src/persist reads the
 * environment.
 *
 * The environment is read only if an application asks for it, because a library that writes wherever the environment
 * says surprises its users. An invalid value is an error: if a mistyped limit were ignored, the store could fill the
 * disk. A value without effect is not an error, for example the limit of a store that is off or read-only.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "persist/storage/common/environment.h"

#include <ingot/backend.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "persist/directory/format/paths.h"
#include "persist/storage/common/serving.h"
#include "util/setting.h"
#include "util/struct_size.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

struct environment {
    environment_lookup_t lookup;
    void *user;
};

/* Returns the value of an environment variable, or NULL if it is unset or empty. */
static const char *value_of(const struct environment *environment, const char *name)
{
    const char *value = environment->lookup(name, environment->user);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

static ingot_status_t nonsense(const char *name, const char *value, const char *expected)
{
    return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "%s: \"%.80s\" is not %s", name, value, expected);
}

/* The settings of all stores, and those that only a writable store uses, in the order in which they are checked. Words
 * are in the order of the enumerators. */
static const struct setting policies[] = {
    {"INGOT_PERSIST_READ_ONLY", ENVIRONMENT_SWITCH, 4, offsetof(ingot_persist_info_t, flags),
     .flag = INGOT_PERSIST_READ_ONLY},
    {"INGOT_PERSIST_MAX_AGE_DAYS", ENVIRONMENT_DAYS, 8, offsetof(ingot_persist_info_t, max_age_ms), .zero = 0},
    {.name = "INGOT_PERSIST_EVICTION",
     .size = 4,
     .offset = offsetof(ingot_persist_info_t, eviction),
     .words = {"lru", "fifo", "off"},
     .expected = "lru, fifo or off"},
    {.name = "INGOT_ON_MISS",
     .size = 4,
     .offset = offsetof(ingot_persist_info_t, on_miss),
     .words = {"compile", "report", "fail"},
     .expected = "compile, report or fail"},
    {.name = "INGOT_PERSIST_TRUST",
     .size = 4,
     .offset = offsetof(ingot_persist_info_t, trust_policy),
     .words = {"none", "verify", "require"},
     .expected = "none, verify or require"},
};
static const struct setting of_writers[] = {
    {"INGOT_PERSIST_MAX_SIZE", ENVIRONMENT_SIZE, 8, offsetof(ingot_persist_info_t, max_bytes), .zero = UINT64_MAX},
    {"INGOT_PERSIST_MAX_ENTRIES", ENVIRONMENT_SIZE, 8, offsetof(ingot_persist_info_t, max_entries), .zero = 0},
    {"INGOT_PERSIST_MIN_BLOB", ENVIRONMENT_SIZE, 8, offsetof(ingot_persist_info_t, min_blob_bytes), .zero = 0},
    {"INGOT_PERSIST_MAX_BLOB", ENVIRONMENT_SIZE, 8, offsetof(ingot_persist_info_t, max_blob_bytes), .zero = 0},
    {"INGOT_PERSIST_LOCK_TIMEOUT", ENVIRONMENT_TIME, 4, offsetof(ingot_persist_info_t, lock_timeout_ms), .zero = 1},
    {"INGOT_PERSIST_DURABLE", ENVIRONMENT_SWITCH, 4, offsetof(ingot_persist_info_t, flags),
     .flag = INGOT_PERSIST_DURABLE},
    {"INGOT_PERSIST_BUILD_WAIT", ENVIRONMENT_TIME, 4, offsetof(ingot_persist_info_t, build_wait_ms),
     .zero = INGOT_PERSIST_NO_TIME},
    {"INGOT_BUILD_JOBS", ENVIRONMENT_SIZE, 4, offsetof(ingot_persist_info_t, build_jobs), .zero = 0},
    {"INGOT_PERSIST_RECIPES", ENVIRONMENT_SWITCH, 4, offsetof(ingot_persist_info_t, flags),
     .flag = INGOT_PERSIST_KEEP_RECIPES},
    {"INGOT_PERSIST_RECIPES_MAX_SIZE", ENVIRONMENT_SIZE, 8, offsetof(ingot_persist_info_t, recipe_max_bytes),
     .zero = UINT64_MAX},
    {.name = "INGOT_PERSIST_STORE_MODE",
     .size = 4,
     .offset = offsetof(ingot_persist_info_t, store_mode),
     .words = {"auto", "now", "flush", "background"},
     .expected = "auto, now, flush or background"},
    {"INGOT_PERSIST_EXIT_TIME", ENVIRONMENT_TIME, 4, offsetof(ingot_persist_info_t, exit_time_ms),
     .zero = INGOT_PERSIST_NO_TIME},
};

static ingot_status_t read_settings(const struct environment *environment, size_t count, const struct setting *settings,
                                    ingot_persist_info_t *info)
{
    for (size_t i = 0; i < count; ++i) {
        const char *value = value_of(environment, settings[i].name);
        if (value != NULL && !setting_read(&settings[i], value, info))
            return nonsense(settings[i].name, value, setting_expected(&settings[i]));
    }
    return INGOT_SUCCESS;
}

/* Refuses keys that no trust policy uses, because they would give a false sense of protection. */
static ingot_status_t check_keys(const struct environment *environment, const ingot_persist_info_t *info)
{
    if (value_of(environment, "INGOT_PERSIST_KEYS") != NULL && value_of(environment, "INGOT_PERSIST_TRUST") == NULL &&
        info->trust_policy == INGOT_PERSIST_TRUST_NONE)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "INGOT_PERSIST_KEYS has no effect: set "
                                                               "INGOT_PERSIST_TRUST to verify or require, too");
    return INGOT_SUCCESS;
}

static ingot_status_t read_policies(const struct environment *environment, ingot_persist_info_t *info)
{
    ingot_status_t status = read_settings(environment, COUNT_OF(policies), policies, info);
    if (status == INGOT_SUCCESS)
        status = check_keys(environment, info);
    if (status != INGOT_SUCCESS)
        return status;
    ingot_persist_info_t written = *info;
    if (value_of(environment, "INGOT_PERSIST_BUILD_WAIT") != NULL) /* overrides the application's NO_BUILD_WAIT */
        written.flags &= ~(uint32_t)INGOT_PERSIST_NO_BUILD_WAIT;
    status = read_settings(environment, COUNT_OF(of_writers), of_writers, &written);
    if (status == INGOT_SUCCESS)
        *info = written;
    return (info->flags & (uint32_t)INGOT_PERSIST_READ_ONLY) != 0 ? INGOT_SUCCESS : status;
}

static ingot_status_t join(const char *directory, const char *below, size_t capacity, char *path)
{
    const size_t length = strlen(directory);
    const size_t more = strlen(below) + 1;
    if (length >= capacity || more > capacity - length)
        return ingot_set_error_detail(INGOT_BUFFER_TOO_SMALL, "the store's path has more than %zu bytes", capacity);
    memcpy(path, directory, length);
    memcpy(path + length, below, more);
    return INGOT_SUCCESS;
}

static ingot_status_t find_root(const struct environment *environment, size_t capacity, char *path, uint32_t *flags)
{
    const char *chosen = value_of(environment, "INGOT_PERSIST_DIR");
    if (chosen != NULL)
        return join(chosen, "", capacity, path);
    const char *cache = value_of(environment, "XDG_CACHE_HOME");
    const char *home = value_of(environment, "HOME");
    *flags |= INGOT_PERSIST_MAKE_PARENTS;
    if (cache != NULL && cache[0] == '/')
        return join(cache, "/ingot", capacity, path);
    if (home != NULL && home[0] == '/')
        return join(home, "/.cache/ingot", capacity, path);
    return ingot_set_error_detail(INGOT_NOT_FOUND, "none of INGOT_PERSIST_DIR, XDG_CACHE_HOME and HOME is set");
}

/* Copies values to the caller's buffer, after the store's path. */
static ingot_status_t find_texts(const struct environment *environment, size_t capacity, char *path,
                                 ingot_persist_info_t *info)
{
    /* Key files and recipes may have any path, because paths are checked when the store is opened. */
    const struct {
        const char *name;
        bool (*is_valid)(const char *text);
        const char *expected;
        const char **text;
    } texts[] = {
        {"INGOT_PERSIST_NAMESPACE", paths_is_namespace, "the name of a namespace", &info->name_space},
        {"INGOT_PERSIST_BACKENDS", serving_is_list, "a list such as opencl,cuda or -opencl", &info->backends},
        {"INGOT_PERSIST_KEYS", NULL, NULL, &info->key_files},
        {"INGOT_RECIPE", NULL, NULL, &info->recipe_path},
    };
    size_t used = strlen(path) + 1;
    for (size_t i = 0; i < COUNT_OF(texts); ++i) {
        const char *value = value_of(environment, texts[i].name);
        if (value == NULL)
            continue;
        if (texts[i].is_valid != NULL && !texts[i].is_valid(value))
            return nonsense(texts[i].name, value, texts[i].expected);
        const ingot_status_t status = join(value, "", capacity - used, path + used);
        if (status != INGOT_SUCCESS)
            return status;
        *texts[i].text = path + used;
        used += strlen(value) + 1;
    }
    return INGOT_SUCCESS;
}

ingot_status_t persist_environment_read(ingot_persist_info_t *info, size_t path_capacity, char *path,
                                        environment_lookup_t lookup, void *user)
{
    const struct environment environment = {lookup, user};
    ingot_persist_info_t read = *info;
    uint64_t is_on = 1;
    const char *value = value_of(&environment, "INGOT_PERSIST");
    if (value != NULL && !environment_parse(ENVIRONMENT_SWITCH, value, &is_on))
        return nonsense("INGOT_PERSIST", value, environment_expected(ENVIRONMENT_SWITCH));
    if (is_on == 0)
        return ingot_set_error_detail(INGOT_NOT_FOUND, "INGOT_PERSIST is off");
    ingot_status_t status = read_policies(&environment, &read);
    if (status == INGOT_SUCCESS)
        status = find_root(&environment, path_capacity, path, &read.flags);
    if (status == INGOT_SUCCESS)
        status = find_texts(&environment, path_capacity, path, &read);
    if (status != INGOT_SUCCESS)
        return status;
    read.path = path;
    *info = read;
    return INGOT_SUCCESS;
}

static const char *look_up(const char *name, void *user)
{
    (void)user;
    return secure_getenv(name);
}

/* A caller that was built with an older version passes a shorter info, and only the fields that it has are set. If this
 * would drop a trust policy, the call fails. */
ingot_status_t ingot_persist_info_from_environment(ingot_persist_info_t *info, size_t path_capacity, char *path)
{
    ingot_persist_info_t read;
    if (!STRUCT_READ(read, info) || path == NULL || path_capacity == 0)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "info, its struct_size or path is missing");
    const ingot_status_t status = persist_environment_read(&read, path_capacity, path, look_up, NULL);
    if (status != INGOT_SUCCESS)
        return status;
    if (read.trust_policy != INGOT_PERSIST_TRUST_NONE &&
        info->struct_size < offsetof(ingot_persist_info_t, key_files) + sizeof(info->key_files))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "INGOT_PERSIST_TRUST: the application was built with a "
                                                               "version of Ingot that does not check seals");
    (void)STRUCT_WRITE(info, read);
    return INGOT_SUCCESS;
}
