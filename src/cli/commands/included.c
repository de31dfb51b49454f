/*
 * included.c - finds the names of included files; see included.h.
 *
 * An id numbers the files in the order in which the compiler reaches them, and a recipe lists them in the same order.
 */
#include "cli/commands/included.h"

#include <ingot/private/recipe.h>
#include <stdio.h>

#include "cli/base/json.h"

/* Adds the names of a program's included files. */
static void add_names(const ingot_recipe_program_t *program, cJSON *differences)
{
    cJSON *difference;
    cJSON_ArrayForEach(difference, differences)
    {
        size_t number = 0;
        char end = '\0';
        const char *field = cJSON_GetStringValue(cJSON_GetObjectItem(difference, "field"));
        if (cJSON_HasObjectItem(difference, "file") || sscanf(field, "file[%zu]%c", &number, &end) != 2 || end != '.')
            continue;
        if (number < program->file_count && program->files[number].name[0] != '\0')
            json_add_text(difference, "file", program->files[number].name);
    }
}

static void add_names_of(ingot_storage_t storage, const ingot_persist_entry_t *entry, cJSON *differences)
{
    ingot_recipe_t recipe = NULL;
    ingot_recipe_program_t program = INGOT_RECIPE_PROGRAM_INIT;
    size_t index = 0;
    if (entry->id == NULL || ingot_persist_open_recipe(storage, entry->name_space, &recipe) != INGOT_SUCCESS)
        return;
    if (ingot_recipe_find_id(recipe, entry->id_size, entry->id, &index) == INGOT_SUCCESS &&
        ingot_recipe_get_program(recipe, index, &program) == INGOT_SUCCESS)
        add_names(&program, differences);
    ingot_recipe_release(recipe);
}

void included_name(ingot_storage_t storage, const ingot_persist_entry_t *wanted, const ingot_persist_entry_t *found,
                   cJSON *differences)
{
    if (storage == NULL || differences == NULL)
        return;
    add_names_of(storage, wanted, differences);
    add_names_of(storage, found, differences); /* the name of a file that only the stored program includes */
}
