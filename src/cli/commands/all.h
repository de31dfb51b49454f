/*
 * all.h - the commands, each of which is defined in the file of its name.
 */
#ifndef INGOT_CLI_COMMANDS_ALL_H
#define INGOT_CLI_COMMANDS_ALL_H

#include "cli/usage/command.h"

extern const struct command command_ls;
extern const struct command command_show;
extern const struct command command_explain;
extern const struct command command_verify;
extern const struct command command_stats;
extern const struct command command_evict;
extern const struct command command_extract;
extern const struct command command_clear;
extern const struct command command_recount;
extern const struct command command_bundle_create;
extern const struct command command_bundle_list;
extern const struct command command_bundle_extract;
extern const struct command command_manifest;
extern const struct command command_run;
extern const struct command command_recipe_list;
extern const struct command command_recipe_show;
extern const struct command command_recipe_merge;
extern const struct command command_recipe_prune;
extern const struct command command_recipe_extract;
extern const struct command command_build;
extern const struct command command_key_create;
extern const struct command command_key_show;
extern const struct command command_sign;
extern const struct command command_help;
extern const struct command command_remote_check; /* this and the next three exist only if remote is built */
extern const struct command command_push;
extern const struct command command_pull;
extern const struct command command_warm;

#endif
