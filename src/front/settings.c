/*
 * settings.c - opens the storages of a cache as its info and the environment say.
 *
 * If a field of the info overrides an environment variable, the variable is not read, so its value need not be valid.
 * Persist and remote read all other variables.
 */
#include "front/settings.h"

#include <ingot/backend.h>
#include <ingot/persist.h>
#include <ingot/private/event.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "persist/directory/format/paths.h"
#include "persist/storage/storage.h"
#include "util/environment.h"

#ifdef INGOT_CACHE_HAS_REMOTE
#include <ingot/remote.h>
#endif

#define MOST_BUILDERS 1024u
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static bool has_flag(const ingot_cache_info_t *info, ingot_cache_open_flags_t flag)
{
    return (info->flags & (uint32_t)flag) != 0;
}

ingot_status_t settings_check(const ingot_cache_info_t *info)
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

const char *settings_variable(const ingot_cache_info_t *info, const char *name)
{
    const bool is_of_ingot = strncmp(name, "INGOT_", 6) == 0;
    const char *value = is_of_ingot && has_flag(info, INGOT_CACHE_OPEN_IGNORE_ENVIRONMENT) ? NULL : secure_getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

bool settings_turn_off(const ingot_cache_info_t *info, const char *name)
{
    const char *value = settings_variable(info, name);
    uint64_t is_on = 1;
    return value != NULL && environment_parse(ENVIRONMENT_SWITCH, value, &is_on) && is_on == 0;
}

ingot_persist_on_miss_t settings_on_miss(const ingot_cache_info_t *info)
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

uint64_t settings_builders(const ingot_cache_info_t *info)
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
 * directory, which gets the field's value. */
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
    };
    if (info->directory != NULL && strcmp(name, "INGOT_PERSIST_DIR") == 0)
        return info->directory;
    for (size_t i = 0; i < COUNT_OF(fields); ++i) {
        if (fields[i].is_hidden && strcmp(name, fields[i].name) == 0)
            return NULL;
    }
    return settings_variable(info, name);
}

/* Changes the settings that persist has read from the environment to what the flags of the info say. */
static ingot_status_t apply_cache_flags(ingot_persist_info_t *settings, void *user)
{
    settings->on_miss = settings_on_miss(user);
    return INGOT_SUCCESS;
}

ingot_status_t settings_open_directory(const ingot_cache_info_t *info, ingot_storage_t *storage)
{
    ingot_cache_info_t fields = *info;
    ingot_persist_info_t defaults = {.struct_size = sizeof(defaults),
                                     .name_space = info->name_space,
                                     .max_bytes = info->max_bytes,
                                     .on_event = info->on_event,
                                     .on_event_user = info->on_event_user,
                                     .adjust = apply_cache_flags,
                                     .adjust_user = &fields};
    if (has_flag(info, INGOT_CACHE_OPEN_READ_ONLY))
        defaults.flags |= (uint32_t)INGOT_PERSIST_READ_ONLY;
    if (info->directory != NULL)
        defaults.flags |= (uint32_t)INGOT_PERSIST_MAKE_PARENTS;
    return persist_environment_open(storage, &defaults, look_up_variable, &fields);
}

#ifdef INGOT_CACHE_HAS_REMOTE

ingot_status_t settings_open_remote(const ingot_cache_info_t *info, ingot_storage_t *storage)
{
    ingot_remote_info_t settings = INGOT_REMOTE_INFO_INIT;
    settings.url = info->remote;
    settings.name_space = info->name_space;
    settings.on_event = info->on_event;
    settings.on_event_user = info->on_event_user;
    if (!has_flag(info, INGOT_CACHE_OPEN_IGNORE_ENVIRONMENT))
        settings.flags |= (uint32_t)INGOT_REMOTE_FROM_ENVIRONMENT;
    else if (info->remote == NULL)
        return INGOT_NOT_FOUND;
    if (has_flag(info, INGOT_CACHE_OPEN_READ_ONLY))
        settings.flags |= (uint32_t)INGOT_REMOTE_READ_ONLY;
    const ingot_status_t status = ingot_remote_open(storage, &settings);
    return status == INGOT_SUCCESS && *storage == NULL ? INGOT_NOT_FOUND : status;
}

#else

ingot_status_t settings_open_remote(const ingot_cache_info_t *info, ingot_storage_t *storage)
{
    (void)storage;
    if (info->remote == NULL && settings_variable(info, "INGOT_PERSIST_REMOTE") == NULL)
        return INGOT_NOT_FOUND;
    return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "this build of Ingot has no remote tiers");
}

#endif
