/*
 * environment.c - what a user's environment says of persistence; the only file of persist that looks at it.
 *
 * Only an application's call leads here: a library that lets the environment choose where it writes surprises those
 * who embed it. Nonsense is an error, since a limit that is silently ignored fills a disk.
 */
#include "persist/environment.h"

#include <ingot/backend.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "persist/digits.h"

#define SECONDS_PER_DAY UINT64_C(86400)

struct environment {
    environment_lookup_t lookup;
    void *user;
};

/* NULL where it is unset or empty. */
static const char *value_of(const struct environment *environment, const char *name)
{
    const char *value = environment->lookup(name, environment->user);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

static ingot_status_t nonsense(const char *name, const char *value, const char *expected)
{
    return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "%s is \"%.80s\", which is not %s", name, value, expected);
}

/* *end is behind the digits. */
static bool parse_digits(const char *text, uint64_t *number, const char **end)
{
    size_t digits;
    const bool is_number = digits_read(strlen(text), text, UINT64_MAX, number, &digits);
    *end = is_number ? text + digits : text;
    return is_number;
}

static bool parse_size(const char *text, uint64_t *bytes)
{
    static const char units[] = "KMGT";
    const char *end;
    if (!parse_digits(text, bytes, &end))
        return false;
    if (*end == '\0')
        return true;
    const char *unit = strchr(units, *end & ~0x20); /* either case */
    if (unit == NULL || *unit == '\0' || end[1] != '\0')
        return false;
    const unsigned shift = 10u * (unsigned)(unit - units + 1);
    if (*bytes > UINT64_MAX >> shift)
        return false;
    *bytes <<= shift;
    return true;
}

static ingot_status_t read_size(const struct environment *environment, const char *name, uint64_t *bytes)
{
    const char *value = value_of(environment, name);
    if (value != NULL && !parse_size(value, bytes))
        return nonsense(name, value, "a number of bytes, such as 1048576, 512M or 2G");
    return INGOT_SUCCESS;
}

static ingot_status_t read_switch(const struct environment *environment, const char *name, bool *is_on)
{
    const char *value = value_of(environment, name);
    if (value == NULL)
        return INGOT_SUCCESS;
    if (strcmp(value, "0") != 0 && strcmp(value, "1") != 0)
        return nonsense(name, value, "0 or 1");
    *is_on = value[0] == '1';
    return INGOT_SUCCESS;
}

static ingot_status_t read_flag(const struct environment *environment, const char *name, uint32_t flag, uint32_t *flags)
{
    bool is_on = (*flags & flag) != 0;
    const ingot_status_t status = read_switch(environment, name, &is_on);
    *flags = is_on ? *flags | flag : *flags & ~flag;
    return status;
}

static ingot_status_t read_age(const struct environment *environment, uint64_t *seconds)
{
    static const char name[] = "INGOT_PERSIST_MAX_AGE_DAYS";
    const char *value = value_of(environment, name);
    const char *end;
    uint64_t days;
    if (value == NULL)
        return INGOT_SUCCESS;
    if (!parse_digits(value, &days, &end) || *end != '\0' || days > UINT64_MAX / SECONDS_PER_DAY)
        return nonsense(name, value, "a number of days");
    *seconds = days * SECONDS_PER_DAY;
    return INGOT_SUCCESS;
}

static ingot_status_t read_eviction(const struct environment *environment, ingot_persist_eviction_t *eviction)
{
    static const char name[] = "INGOT_PERSIST_EVICTION";
    const char *value = value_of(environment, name);
    if (value == NULL)
        return INGOT_SUCCESS;
    if (strcmp(value, "fifo") == 0)
        *eviction = INGOT_PERSIST_EVICT_FIFO;
    else if (strcmp(value, "lru") == 0)
        *eviction = INGOT_PERSIST_EVICT_LRU;
    else if (strcmp(value, "off") == 0)
        *eviction = INGOT_PERSIST_EVICT_OFF;
    else
        return nonsense(name, value, "fifo, lru or off");
    return INGOT_SUCCESS;
}

static ingot_status_t read_max_size(const struct environment *environment, uint64_t *max_bytes)
{
    uint64_t bytes = *max_bytes;
    const ingot_status_t status = read_size(environment, "INGOT_PERSIST_MAX_SIZE", &bytes);
    if (status == INGOT_SUCCESS && value_of(environment, "INGOT_PERSIST_MAX_SIZE") != NULL)
        *max_bytes = bytes != 0 ? bytes : UINT64_MAX;
    return status;
}

static ingot_status_t read_policies(const struct environment *environment, ingot_persist_info_t *info)
{
    ingot_status_t status = read_max_size(environment, &info->max_bytes);
    if (status == INGOT_SUCCESS)
        status = read_age(environment, &info->max_age_seconds);
    if (status == INGOT_SUCCESS)
        status = read_size(environment, "INGOT_PERSIST_MIN_BLOB", &info->min_blob_bytes);
    if (status == INGOT_SUCCESS)
        status = read_size(environment, "INGOT_PERSIST_MAX_BLOB", &info->max_blob_bytes);
    if (status == INGOT_SUCCESS)
        status = read_eviction(environment, &info->eviction);
    if (status == INGOT_SUCCESS)
        status = read_flag(environment, "INGOT_PERSIST_READ_ONLY", INGOT_PERSIST_READ_ONLY, &info->flags);
    if (status == INGOT_SUCCESS)
        status = read_flag(environment, "INGOT_PERSIST_DURABLE", INGOT_PERSIST_DURABLE, &info->flags);
    return status;
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

ingot_status_t environment_read(ingot_persist_info_t *info, size_t path_capacity, char *path,
                                environment_lookup_t lookup, void *user)
{
    const struct environment environment = {lookup, user};
    ingot_persist_info_t read = *info;
    bool is_on = true;
    ingot_status_t status = read_switch(&environment, "INGOT_PERSIST", &is_on);
    if (status == INGOT_SUCCESS && !is_on)
        return ingot_set_error_detail(INGOT_NOT_FOUND, "INGOT_PERSIST is 0");
    if (status == INGOT_SUCCESS)
        status = read_policies(&environment, &read);
    if (status == INGOT_SUCCESS)
        status = find_root(&environment, path_capacity, path, &read.flags);
    if (status != INGOT_SUCCESS)
        return status;
    read.path = path;
    *info = read;
    return INGOT_SUCCESS;
}

static const char *look_up(const char *name, void *user)
{
    (void)user;
    return getenv(name);
}

ingot_status_t ingot_persist_info_from_environment(ingot_persist_info_t *info, size_t path_capacity, char *path)
{
    if (info == NULL || info->struct_size < sizeof(*info) || path == NULL || path_capacity == 0)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "info, its struct_size or path is missing");
    return environment_read(info, path_capacity, path, look_up, NULL);
}
