/*
 * environment.c - reads the settings of remote tiers from environment variables. No other file of src/remote reads any.
 *
 * As in persist, the environment is read only if the application asks for it. Credentials are in files, because others
 * may see the environment.
 */
#include "util/environment.h"

#include <ingot/backend.h>
#include <ingot/private/event.h>

#include "remote/tier/tier.h"

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
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]) && status == INGOT_SUCCESS; ++i)
        status = read_setting(&settings[i], &read);
    info->flags |= read.flags;
    if (info->time_to_live_ms == 0)
        info->time_to_live_ms = read.time_to_live_ms;
    return status;
}
