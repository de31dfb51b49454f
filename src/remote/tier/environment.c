/*
 * environment.c - reads the settings of remote tiers from environment variables. No other file of src/remote reads any.
 *
 * As in persist, the environment is read only if the application asks for it. Credentials are in files, because others
 * may see the environment.
 */
#include "util/environment.h"

#include <ingot/backend.h>
#include <ingot/private/event.h>
#include <ingot/remote.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "util/struct_size.h"

/* Returns the value of an environment variable, or NULL if the variable is unset or empty. */
static const char *variable_value(const char *name)
{
    const char *value = secure_getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

static const struct setting trust_policy = {.name = "INGOT_PERSIST_TRUST",
                                            .size = 4,
                                            .offset = offsetof(ingot_persist_trust_t, policy),
                                            .words = {"none", "verify", "require"}, /* in the enumerators' order */
                                            .expected = "none, verify or require"};
/* In the order in which they are checked. */
static const struct setting settings[] = {
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
    const char *value = variable_value(setting->name);
    if (value == NULL || setting_read(setting, value, info))
        return INGOT_SUCCESS;
    return ingot_environment_refuse(setting->name, "%s: \"%.80s\" is not %s", setting->name, value,
                                    setting_expected(setting));
}

/* Copies a value to the caller's memory. */
static ingot_status_t copy_setting_text(const char *value, size_t capacity, char *memory, size_t *used,
                                        const char **text)
{
    const size_t size = strlen(value) + 1;
    if (size > capacity - *used)
        return ingot_set_error_detail(INGOT_BUFFER_TOO_SMALL,
                                      "the URL, the namespace and the key files have more than %zu bytes", capacity);
    memcpy(memory + *used, value, size);
    *text = memory + *used;
    *used += size;
    return INGOT_SUCCESS;
}

ingot_status_t ingot_remote_info_from_environment(ingot_remote_info_t *info, ingot_persist_trust_t *trust,
                                                  size_t url_capacity, char *url)
{
    ingot_remote_info_t read = INGOT_REMOTE_INFO_INIT;
    ingot_persist_trust_t read_trust = INGOT_PERSIST_TRUST_INIT;
    size_t used = 0;
    if (!STRUCT_READ_OVER(read, info) || !STRUCT_IS_SET(trust) || url == NULL || url_capacity == 0)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "info, trust, a struct_size or url is missing");
    if (read.trust != NULL && !STRUCT_READ_OVER(read_trust, read.trust))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the struct_size of info's trust is missing");
    const char *value = variable_value("INGOT_PERSIST_REMOTE");
    if (value == NULL)
        return ingot_set_error_detail(INGOT_NOT_FOUND, "INGOT_PERSIST_REMOTE is not set");
    ingot_status_t status = copy_setting_text(value, url_capacity, url, &used, &read.url);
    value = variable_value("INGOT_PERSIST_NAMESPACE");
    if (status == INGOT_SUCCESS && value != NULL)
        status = copy_setting_text(value, url_capacity, url, &used, &read.name_space);
    value = variable_value("INGOT_PERSIST_KEYS");
    if (status == INGOT_SUCCESS && value != NULL)
        status = copy_setting_text(value, url_capacity, url, &used, &read_trust.key_files);
    if (status == INGOT_SUCCESS)
        status = read_setting(&trust_policy, &read_trust);
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]) && status == INGOT_SUCCESS; ++i)
        status = read_setting(&settings[i], &read);
    if (status == INGOT_SUCCESS && read_trust.policy != INGOT_PERSIST_TRUST_NONE &&
        info->struct_size < offsetof(ingot_remote_info_t, trust) + sizeof(info->trust)) /* a policy would be dropped */
        status = ingot_set_error_detail(INGOT_INVALID_ARGUMENTS,
                                        "INGOT_PERSIST_TRUST: the application was built with a version of Ingot that "
                                        "does not check the seals of remote tiers");
    if (status != INGOT_SUCCESS)
        return status;
    read.trust = trust;
    (void)STRUCT_WRITE(trust, read_trust);
    (void)STRUCT_WRITE(info, read);
    return INGOT_SUCCESS;
}
