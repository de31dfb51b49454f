/*
 * options.c - what the options that several commands have mean; see options.h.
 */
#include "cli/base/options.h"

#include <stddef.h>
#include <stdlib.h>

void options_take_namespace(struct common_options *options)
{
    const char *name_space = getenv("INGOT_PERSIST_NAMESPACE");
    if (options->name_space == NULL && name_space != NULL && name_space[0] != '\0')
        options->name_space = name_space;
}

ingot_persist_trust_policy_t options_policy(bool is_required, const char *key_files)
{
    if (is_required)
        return INGOT_PERSIST_TRUST_REQUIRE;
    return key_files != NULL ? INGOT_PERSIST_TRUST_VERIFY : INGOT_PERSIST_TRUST_NONE;
}
