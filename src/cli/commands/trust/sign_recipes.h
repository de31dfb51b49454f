/*
 * sign_recipes.h - seals recipe files.
 */
#ifndef INGOT_CLI_COMMANDS_TRUST_SIGN_RECIPES_H
#define INGOT_CLI_COMMANDS_TRUST_SIGN_RECIPES_H

#include <stddef.h>

#include "cli/base/options.h"

/* Seals the recipes with the first secret key of the options. Returns an exit_code, and prints a message if it is not
 * EXIT_DONE. */
int sign_recipes(const struct common_options *options, size_t count, char *const *paths);

#endif
