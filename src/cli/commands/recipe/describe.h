/*
 * describe.h - describes the programs of recipes as JSON.
 */
#ifndef INGOT_CLI_COMMANDS_RECIPE_DESCRIBE_H
#define INGOT_CLI_COMMANDS_RECIPE_DESCRIBE_H

#include <cjson/cJSON.h>
#include <ingot/private/recipe.h>

/* Returns the size of all texts of a program in bytes. */
uint64_t recipe_text_bytes(const ingot_recipe_program_t *program);
/* Returns what lists show of a program. */
cJSON *recipe_program_to_json(const ingot_recipe_program_t *program);
/* Returns that and all else. Its lists of texts have the order of the program's. */
cJSON *recipe_details_to_json(const ingot_recipe_program_t *program);

#endif
