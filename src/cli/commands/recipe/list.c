/*
 * list.c - `ingot recipe list` lists the programs of recipes; `ingot recipe show` shows all about some of them.
 */
#include <stdio.h>

#include "cli/base/exit_code.h"
#include "cli/base/json.h"
#include "cli/base/options.h"
#include "cli/base/table.h"
#include "cli/base/text.h"
#include "cli/build/plan.h"
#include "cli/commands/all.h"
#include "cli/commands/recipe/describe.h"

/* ---- list -------------------------------------------------------------------------------------------------------- */

/* The values of `list` and of `show`. */
struct listing {
    struct common_options common;
    struct plan plan;      /* of the recipes to list */
    const char *path;      /* of the recipe to show */
    struct text_list rest; /* the recipes to list, or the keys of the programs to show */
};

static const struct command_option list_options[] = {
    {NULL, 0, VALUE_FILE, "FILE", offsetof(struct listing, rest), .flags = OPTION_REQUIRED | OPTION_REPEATED,
     .help = "The recipes"},
    {.help = NULL},
};

static int list_programs(void *values)
{
    struct listing *listing = values;
    static const struct table_column columns[] = {{"KEY", "{key:short}", false},
                                                  {"KIND", "{kind}", false},
                                                  {"BUILD", "[build_time_ns?{build_time_ns:duration}]", true},
                                                  {"SIZE", "{text_bytes:size}", true},
                                                  {"BACKEND", "{backend}", false},
                                                  {"NAME", "{name}", false},
                                                  {"BUILT FOR", "{built_for}", false},
                                                  {"PROBLEM", "{reason}", false}};
    const struct plan *plan = &listing->plan;
    const int code = plan_open(&listing->plan, listing->rest.count, listing->rest.items, NULL);
    cJSON *json = cJSON_CreateArray();
    for (size_t i = 0; i < plan->program_count && code == EXIT_DONE; ++i)
        (void)cJSON_AddItemToArray(json, recipe_program_to_json(&plan->programs[i].facts));
    if (code == EXIT_DONE)
        table_report(json, listing->common.is_json, sizeof(columns) / sizeof(columns[0]), columns);
    else
        cJSON_Delete(json);
    return code;
}

const struct command command_recipe_list = {
    .name = "recipe list",
    .group = "Run and build",
    .summary = "list the programs of recipes",
    .about = "Lists the distinct programs of recipes, the most expensive first, with the beginning of the key, and the "
             "reason for each program that cannot be built.",
    .options = list_options,
    .size = sizeof(struct listing),
    .run = list_programs,
};

/* ---- show -------------------------------------------------------------------------------------------------------- */

/* Prints the members of a JSON object, and of all objects and lists in it, one per line. */
static void print_members(const cJSON *json, unsigned indent)
{
    for (const cJSON *each = json->child; each != NULL; each = each->next) {
        const bool is_list = cJSON_IsArray(each) || cJSON_IsObject(each);
        if ((is_list && each->child == NULL) || (cJSON_IsString(each) && each->valuestring[0] == '\0'))
            continue;
        (void)printf("%*s%s", (int)indent, "", each->string != NULL ? each->string : "-");
        if (is_list) {
            (void)putchar('\n');
            print_members(each, indent + 2);
        } else {
            char *value = cJSON_IsString(each) ? NULL : cJSON_PrintUnformatted(each);
            (void)fputs(each->string != NULL ? ": " : " ", stdout);
            text_put(stdout, value != NULL ? value : each->valuestring, indent + 2);
            (void)putchar('\n');
            cJSON_free(value);
        }
    }
}

static cJSON *summary_to_json(const ingot_recipe_summary_t *summary)
{
    cJSON *json = cJSON_CreateObject();
    json_add_u64(json, "programs", summary->program_count);
    json_add_u64(json, "texts", summary->text_count);
    json_add_u64(json, "text_bytes", summary->text_bytes);
    json_add_u64(json, "file_bytes", summary->file_bytes);
    json_add_u64(json, "damaged_records", summary->damaged_count);
    json_add_u64(json, "torn_bytes", summary->torn_bytes);
    json_add_u64(json, "seals", summary->seal_count);
    return json;
}

/* Adds the programs with the given keys to the list. */
static int add_chosen_programs(const struct text_list *keys, ingot_recipe_t recipe, cJSON *json)
{
    int code = EXIT_DONE;
    for (size_t i = 0; i < keys->count && code == EXIT_DONE; ++i) {
        ingot_recipe_program_t program = INGOT_RECIPE_PROGRAM_INIT;
        code = plan_find_program(recipe, keys->items[i], &program);
        if (code == EXIT_DONE)
            (void)cJSON_AddItemToArray(json, recipe_details_to_json(&program));
    }
    return code;
}

static const struct command_option show_options[] = {
    {NULL, 0, VALUE_FILE, "FILE", offsetof(struct listing, path), .flags = OPTION_REQUIRED, .help = "The recipe"},
    {NULL, 0, VALUE_TEXT, "KEY", offsetof(struct listing, rest), .flags = OPTION_REPEATED,
     .help = "Programs, by the beginnings of their keys in hexadecimal digits"},
    {.help = NULL},
};

static int show_recipe(void *values)
{
    const struct listing *listing = values;
    ingot_recipe_t recipe = NULL;
    ingot_recipe_summary_t summary;
    int code = plan_open_recipe(&recipe, &summary, listing->path, NULL);
    if (code != EXIT_DONE)
        return code;
    const bool is_whole = listing->rest.count == 0;
    cJSON *json = is_whole ? summary_to_json(&summary) : cJSON_CreateArray();
    code = add_chosen_programs(&listing->rest, recipe, json);
    ingot_recipe_release(recipe);
    if (code == EXIT_DONE && listing->common.is_json) {
        json_print(json);
        return code;
    }
    if (code == EXIT_DONE && is_whole)
        print_members(json, 0);
    for (const cJSON *each = is_whole ? NULL : json->child; each != NULL && code == EXIT_DONE; each = each->next)
        print_members(each, 0);
    cJSON_Delete(json);
    return code;
}

const struct command command_recipe_show = {
    .name = "recipe show",
    .group = "Run and build",
    .summary = "show a recipe or its programs",
    .about = "Shows how many programs and texts a recipe has, or all details of programs.",
    .options = show_options,
    .size = sizeof(struct listing),
    .run = show_recipe,
};
