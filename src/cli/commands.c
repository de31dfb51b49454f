/*
 * commands.c - the list of all commands.
 */
#include "cli/commands/all.h"
#include "cli/usage/command.h"

const struct command *const commands_all[] = {
    &command_ls,
    &command_show,
    &command_explain,
    &command_stats,
    &command_manifest,
    &command_extract,
    &command_verify,
    &command_evict,
    &command_clear,
    &command_recount,
    &command_run,
    &command_build,
    &command_recipe_list,
    &command_recipe_show,
    &command_recipe_merge,
    &command_recipe_prune,
    &command_recipe_extract,
    &command_bundle_create,
    &command_bundle_list,
    &command_bundle_extract,
#if INGOT_WITH_REMOTE
    &command_push,
    &command_pull,
    &command_warm,
    &command_remote_check,
#endif
    &command_key_create,
    &command_key_show,
    &command_sign,
    &command_help,
    NULL,
};
