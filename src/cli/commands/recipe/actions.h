/*
 * actions.h - the actions of `ingot recipe`. Each returns an exit_code, and prints a message if it is not EXIT_DONE.
 */
#ifndef INGOT_CLI_COMMANDS_RECIPE_ACTIONS_H
#define INGOT_CLI_COMMANDS_RECIPE_ACTIONS_H

#include <ingot/recipe.h>

#include "cli/base/options.h"

struct recipe_request {
    struct common_options common;
    char **arguments; /* after the action's name */
    size_t count;
    const char *name;      /* prune removes programs with this text in their name; NULL: none */
    uint64_t faster_ns;    /* prune removes programs that compiled in less time */
    bool keeps_unrecorded; /* prune keeps programs that cannot be built, too */
};

int recipe_list(const struct recipe_request *request);
int recipe_show(const struct recipe_request *request);
int recipe_merge(const struct recipe_request *request);
int recipe_prune(const struct recipe_request *request);
int recipe_extract(const struct recipe_request *request);

/* Finds the only program whose key begins with these hexadecimal digits. If there are none or several, prints a message
 * and returns EXIT_FINDING. */
int recipe_find_program(ingot_recipe_t recipe, const char *digits, ingot_recipe_program_t *program);
/* Returns the size of all texts of a program in bytes. */
uint64_t recipe_text_bytes(const ingot_recipe_program_t *program);

#endif
