/*
 * recipe.c - `ingot recipe`: inspects and edits recipe files.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/exit_code.h"
#include "cli/base/memory.h"
#include "cli/build/plan.h"
#include "cli/command.h"
#include "cli/commands/recipe/actions.h"
#include "util/quantity.h"

enum { KEY_UNRECORDED = 256 };

static const struct {
    const char *name;
    int (*run)(const struct recipe_request *request);
    size_t least_arguments;
} actions[] = {{"list", recipe_list, 1},
               {"show", recipe_show, 1},
               {"merge", recipe_merge, 2},
               {"prune", recipe_prune, 1},
               {"extract", recipe_extract, 2}};

enum { ACTION_COUNT = sizeof(actions) / sizeof(actions[0]) };

struct parsing {
    struct recipe_request request; /* must be first, because the common options are its first member */
    size_t action;
};

static const struct argp_option recipe_options[] = {
    {"name", 'N', "TEXT", 0, "prune: remove programs with TEXT in their name", 0},
    {"faster", 'f', "TIME", 0, "prune: remove programs that compiled in less than TIME: a number with ms or s", 0},
    {"unrecorded", KEY_UNRECORDED, NULL, 0, "prune: keep programs that cannot be built", 0},
    {NULL, 0, NULL, 0, NULL, 0},
};

/* ---- what several actions use ----------------------------------------------------------------------------------- */

int recipe_find_program(ingot_recipe_t recipe, const char *digits, ingot_recipe_program_t *program)
{
    ingot_recipe_summary_t summary = INGOT_RECIPE_SUMMARY_INIT;
    char key[PLAN_KEY_TEXT_SIZE];
    size_t match_count = 0;
    (void)ingot_recipe_get_summary(recipe, &summary);
    for (uint64_t i = 0; i < summary.program_count && match_count < 2; ++i) {
        ingot_recipe_program_t each = INGOT_RECIPE_PROGRAM_INIT;
        if (ingot_recipe_get_program(recipe, (size_t)i, &each) != INGOT_SUCCESS ||
            strncmp(plan_key_text(each.key, key), digits, strlen(digits)) != 0)
            continue;
        *program = each;
        ++match_count;
    }
    if (match_count == 1)
        return EXIT_DONE;
    (void)fprintf(stderr, "ingot: %s with a key that begins with %s\n",
                  match_count == 0 ? "there is no program" : "there are several programs", digits);
    return EXIT_FINDING;
}

static uint64_t bytes_of(size_t count, const ingot_recipe_text_t *texts)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; ++i)
        bytes += texts[i].size + bytes_of(texts[i].header_count, texts[i].headers);
    return bytes;
}

uint64_t recipe_text_bytes(const ingot_recipe_program_t *program)
{
    return bytes_of(program->source_count, program->sources) + bytes_of(program->header_count, program->headers) +
           bytes_of(program->file_count, program->files);
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

static void take_action(struct parsing *parsing, const char *name, struct argp_state *state)
{
    for (size_t i = 0; i < ACTION_COUNT; ++i) {
        if (strcmp(actions[i].name, name) == 0) {
            parsing->action = i;
            return;
        }
    }
    argp_error(state, "\"%s\" is not a recipe command: use list, show, merge, prune or extract", name);
}

static void take_argument(struct parsing *parsing, char *value, struct argp_state *state)
{
    struct recipe_request *request = &parsing->request;
    if (state->arg_num == 0) {
        take_action(parsing, value, state);
        return;
    }
    request->arguments = memory_grow(request->arguments, request->count, sizeof(*request->arguments));
    request->arguments[request->count++] = value;
}

static void take_time(struct recipe_request *request, const char *value, struct argp_state *state)
{
    static const struct quantity_unit units[] = {{"ms", 1000000}, {"s", 1000000000}, {NULL, 0}};
    if (!quantity_read(value, 0, units, &request->faster_ns))
        argp_error(state, "\"%s\" is not a time: use a number with ms or s", value);
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct parsing *parsing = state->input;
    switch (key) {
    case 'N': parsing->request.name = value; return 0;
    case 'f': take_time(&parsing->request, value, state); return 0;
    case KEY_UNRECORDED: parsing->request.keeps_unrecorded = true; return 0;
    case ARGP_KEY_ARG: take_argument(parsing, value, state); return 0;
    case ARGP_KEY_END:
        if (state->arg_num == 0)
            argp_error(state, "name a recipe command: list, show, merge, prune or extract");
        if (parsing->request.count < actions[parsing->action].least_arguments)
            argp_error(state, "%s needs more arguments", actions[parsing->action].name);
        return 0;
    default: return options_parse_other(key, state);
    }
}

static int run(int argc, char **argv)
{
    static const struct argp argp = {
        recipe_options,
        parse_option,
        "list FILE...\nshow FILE [KEY...]\nmerge INTO FILE...\nprune FILE\nextract FILE DIR [KEY...]",
        "Lists the programs of recipes, shows a recipe or its programs, merges recipes into another one, removes "
        "programs from a recipe, or writes their sources to files. KEY is the beginning of a program's key.",
        options_common,
        NULL,
        NULL};
    struct parsing parsing = {.action = 0};
    (void)argp_parse(&argp, argc, argv, 0, NULL, &parsing);
    const int code = actions[parsing.action].run(&parsing.request);
    free(parsing.request.arguments);
    return code;
}

const struct command command_recipe = {"recipe", "list, show, merge, prune or extract recipes", run};
