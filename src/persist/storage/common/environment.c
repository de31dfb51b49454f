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
#include "util/environment.h"
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

/* Reads a number from an environment variable. If the variable is unset, leaves *number unchanged. is_set may be
 * NULL. */
static ingot_status_t read_number(const struct environment *environment, const char *name, enum environment_kind kind,
                                  uint64_t *number, bool *is_set)
{
    const char *value = value_of(environment, name);
    if (is_set != NULL)
        *is_set = value != NULL;
    if (value != NULL && !environment_parse(kind, value, number))
        return nonsense(name, value, environment_expected(kind));
    return INGOT_SUCCESS;
}

static ingot_status_t read_flag(const struct environment *environment, const char *name, uint32_t flag, uint32_t *flags)
{
    uint64_t is_on = (*flags & flag) != 0;
    const ingot_status_t status = read_number(environment, name, ENVIRONMENT_SWITCH, &is_on, NULL);
    *flags = is_on != 0 ? *flags | flag : *flags & ~flag;
    return status;
}

/* Reads a limit. If the variable is 0, there is no limit, and *limit becomes `none`. */
static ingot_status_t read_limit(const struct environment *environment, const char *name, uint64_t none,
                                 uint64_t *limit)
{
    bool is_set = false;
    uint64_t number = 0;
    const ingot_status_t status = read_number(environment, name, ENVIRONMENT_SIZE, &number, &is_set);
    if (status == INGOT_SUCCESS && is_set)
        *limit = number != 0 ? number : none;
    return status;
}

/* Reads a time in milliseconds. In the info, 0 means the default, so a variable of 0 becomes `zero` in *time_ms. */
static ingot_status_t read_time(const struct environment *environment, const char *name, uint32_t zero,
                                uint32_t *time_ms)
{
    bool is_set = false;
    uint64_t number = 0;
    const ingot_status_t status = read_number(environment, name, ENVIRONMENT_TIME, &number, &is_set);
    if (status == INGOT_SUCCESS && is_set)
        *time_ms = number == 0 ? zero : number < INGOT_PERSIST_NO_TIME ? (uint32_t)number : INGOT_PERSIST_NO_TIME - 1;
    return status;
}

static ingot_status_t read_build_wait(const struct environment *environment, ingot_persist_info_t *info)
{
    if (value_of(environment, "INGOT_PERSIST_BUILD_WAIT") != NULL) /* overrides the application's NO_BUILD_WAIT */
        info->flags &= ~(uint32_t)INGOT_PERSIST_NO_BUILD_WAIT;
    return read_time(environment, "INGOT_PERSIST_BUILD_WAIT", INGOT_PERSIST_NO_TIME, &info->build_wait_ms);
}

static ingot_status_t read_build_jobs(const struct environment *environment, ingot_persist_info_t *info)
{
    uint64_t jobs = info->build_jobs;
    const ingot_status_t status = read_number(environment, "INGOT_BUILD_JOBS", ENVIRONMENT_SIZE, &jobs, NULL);
    info->build_jobs = jobs < UINT32_MAX ? (uint32_t)jobs : UINT32_MAX;
    return status;
}

static ingot_status_t read_recipes(const struct environment *environment, ingot_persist_info_t *info)
{
    const ingot_status_t status =
        read_flag(environment, "INGOT_PERSIST_RECIPES", INGOT_PERSIST_KEEP_RECIPES, &info->flags);
    return status == INGOT_SUCCESS
               ? read_limit(environment, "INGOT_PERSIST_RECIPES_MAX_SIZE", UINT64_MAX, &info->recipe_max_bytes)
               : status;
}

static ingot_status_t read_age(const struct environment *environment, uint64_t *max_age_ms)
{
    return read_number(environment, "INGOT_PERSIST_MAX_AGE_DAYS", ENVIRONMENT_DAYS, max_age_ms, NULL);
}

/* Sets *chosen to the index in `words` of an environment variable's value. If it is unset, leaves *chosen unchanged. */
static ingot_status_t read_choice(const struct environment *environment, const char *name, size_t count,
                                  const char *const *words, const char *expected, size_t *chosen)
{
    const char *value = value_of(environment, name);
    if (value != NULL && !environment_choose(value, count, words, chosen))
        return nonsense(name, value, expected);
    return INGOT_SUCCESS;
}

static ingot_status_t read_eviction(const struct environment *environment, ingot_persist_eviction_t *eviction)
{
    static const char *const words[] = {"lru", "fifo", "off"}; /* in the order of the enumerators */
    size_t chosen = (size_t)*eviction;
    const ingot_status_t status =
        read_choice(environment, "INGOT_PERSIST_EVICTION", COUNT_OF(words), words, "lru, fifo or off", &chosen);
    *eviction = (ingot_persist_eviction_t)chosen;
    return status;
}

static ingot_status_t read_storing(const struct environment *environment, ingot_persist_info_t *info)
{
    static const char *const words[] = {"auto", "now", "flush", "background"}; /* in the order of the enumerators */
    size_t chosen = (size_t)info->store_mode;
    ingot_status_t status = read_choice(environment, "INGOT_PERSIST_STORE_MODE", COUNT_OF(words), words,
                                        "auto, now, flush or background", &chosen);
    info->store_mode = (ingot_persist_store_mode_t)chosen;
    if (status == INGOT_SUCCESS)
        status = read_time(environment, "INGOT_PERSIST_EXIT_TIME", INGOT_PERSIST_NO_TIME, &info->exit_time_ms);
    return status;
}

static ingot_status_t read_on_miss(const struct environment *environment, ingot_persist_on_miss_t *on_miss)
{
    static const char *const words[] = {"compile", "report", "fail"}; /* in the order of the enumerators */
    size_t chosen = (size_t)*on_miss;
    const ingot_status_t status =
        read_choice(environment, "INGOT_ON_MISS", COUNT_OF(words), words, "compile, report or fail", &chosen);
    *on_miss = (ingot_persist_on_miss_t)chosen;
    return status;
}

static ingot_status_t read_trust(const struct environment *environment, ingot_persist_trust_policy_t *policy)
{
    static const char *const words[] = {"none", "verify", "require"}; /* in the order of the enumerators */
    size_t chosen = (size_t)*policy;
    const ingot_status_t status =
        read_choice(environment, "INGOT_PERSIST_TRUST", COUNT_OF(words), words, "none, verify or require", &chosen);
    *policy = (ingot_persist_trust_policy_t)chosen;
    return status;
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

/* Reads the settings that only a writable store uses. */
static ingot_status_t read_writing(const struct environment *environment, ingot_persist_info_t *info)
{
    ingot_status_t status = read_limit(environment, "INGOT_PERSIST_MAX_SIZE", UINT64_MAX, &info->max_bytes);
    if (status == INGOT_SUCCESS)
        status = read_limit(environment, "INGOT_PERSIST_MAX_ENTRIES", 0, &info->max_entries);
    if (status == INGOT_SUCCESS)
        status = read_number(environment, "INGOT_PERSIST_MIN_BLOB", ENVIRONMENT_SIZE, &info->min_blob_bytes, NULL);
    if (status == INGOT_SUCCESS)
        status = read_number(environment, "INGOT_PERSIST_MAX_BLOB", ENVIRONMENT_SIZE, &info->max_blob_bytes, NULL);
    if (status == INGOT_SUCCESS)
        status = read_time(environment, "INGOT_PERSIST_LOCK_TIMEOUT", 1, &info->lock_timeout_ms);
    if (status == INGOT_SUCCESS)
        status = read_flag(environment, "INGOT_PERSIST_DURABLE", INGOT_PERSIST_DURABLE, &info->flags);
    if (status == INGOT_SUCCESS)
        status = read_build_wait(environment, info);
    if (status == INGOT_SUCCESS)
        status = read_build_jobs(environment, info);
    if (status == INGOT_SUCCESS)
        status = read_recipes(environment, info);
    return status == INGOT_SUCCESS ? read_storing(environment, info) : status;
}

static ingot_status_t read_policies(const struct environment *environment, ingot_persist_info_t *info)
{
    ingot_status_t status = read_flag(environment, "INGOT_PERSIST_READ_ONLY", INGOT_PERSIST_READ_ONLY, &info->flags);
    if (status == INGOT_SUCCESS)
        status = read_age(environment, &info->max_age_ms);
    if (status == INGOT_SUCCESS)
        status = read_eviction(environment, &info->eviction);
    if (status == INGOT_SUCCESS)
        status = read_on_miss(environment, &info->on_miss);
    if (status == INGOT_SUCCESS)
        status = read_trust(environment, &info->trust_policy);
    if (status == INGOT_SUCCESS)
        status = check_keys(environment, info);
    if (status != INGOT_SUCCESS)
        return status;
    ingot_persist_info_t written = *info;
    status = read_writing(environment, &written);
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

/* Copies the value of an environment variable to the caller's buffer, after the *used bytes that contain the store's
 * path and earlier values. */
static ingot_status_t find_text(const struct environment *environment, const char *name,
                                bool (*is_valid)(const char *text), const char *expected, size_t capacity, char *path,
                                size_t *used, const char **text)
{
    const char *value = value_of(environment, name);
    if (value == NULL)
        return INGOT_SUCCESS;
    if (!is_valid(value))
        return nonsense(name, value, expected);
    const ingot_status_t status = join(value, "", capacity - *used, path + *used);
    *text = path + *used;
    *used += status == INGOT_SUCCESS ? strlen(value) + 1 : 0;
    return status;
}

/* Accepts any text, because the paths are checked when the store is opened. */
static bool is_any(const char *text)
{
    (void)text;
    return true;
}

static ingot_status_t find_texts(const struct environment *environment, size_t capacity, char *path,
                                 ingot_persist_info_t *info)
{
    size_t used = strlen(path) + 1;
    ingot_status_t status = find_text(environment, "INGOT_PERSIST_NAMESPACE", paths_is_namespace,
                                      "the name of a namespace", capacity, path, &used, &info->name_space);
    if (status == INGOT_SUCCESS)
        status = find_text(environment, "INGOT_PERSIST_BACKENDS", serving_is_list,
                           "a list such as opencl,cuda or -opencl", capacity, path, &used, &info->backends);
    if (status == INGOT_SUCCESS)
        status = find_text(environment, "INGOT_PERSIST_KEYS", is_any, "a list of key files", capacity, path, &used,
                           &info->key_files);
    if (status == INGOT_SUCCESS)
        status = find_text(environment, "INGOT_RECIPE", is_any, "the path of a recipe", capacity, path, &used,
                           &info->recipe_path);
    return status;
}

ingot_status_t persist_environment_read(ingot_persist_info_t *info, size_t path_capacity, char *path,
                                        environment_lookup_t lookup, void *user)
{
    const struct environment environment = {lookup, user};
    ingot_persist_info_t read = *info;
    uint64_t is_on = 1;
    ingot_status_t status = read_number(&environment, "INGOT_PERSIST", ENVIRONMENT_SWITCH, &is_on, NULL);
    if (status == INGOT_SUCCESS && is_on == 0)
        return ingot_set_error_detail(INGOT_NOT_FOUND, "INGOT_PERSIST is off");
    if (status == INGOT_SUCCESS)
        status = read_policies(&environment, &read);
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
