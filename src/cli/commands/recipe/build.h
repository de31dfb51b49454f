/*
 * build.h - loads the programs of recipes from a server, in the worker processes of `ingot build`.
 */
#ifndef INGOT_CLI_COMMANDS_RECIPE_BUILD_H
#define INGOT_CLI_COMMANDS_RECIPE_BUILD_H

#include "cli/base/options.h"
#include "cli/usage/command.h"

/* Loads what the programs of the recipes need on this machine from the server that the environment names, and compiles
 * nothing. Prints a summary. Returns an exit_code. */
int build_pull(const struct common_options *options, const struct text_list *recipes);

#endif
