/*
 * actions.h - what the commands of `ingot recipe` share.
 */
#ifndef INGOT_CLI_COMMANDS_RECIPE_ACTIONS_H
#define INGOT_CLI_COMMANDS_RECIPE_ACTIONS_H

#include <ingot/recipe.h>

#include "cli/base/options.h"
#include "cli/commands/all.h"

/* Finds the only program whose key begins with these hexadecimal digits. If there are none or several, prints a message
 * and returns EXIT_FINDING. */
int recipe_find_program(ingot_recipe_t recipe, const char *digits, ingot_recipe_program_t *program);
/* Returns the size of all texts of a program in bytes. */
uint64_t recipe_text_bytes(const ingot_recipe_program_t *program);

#endif
