/*
 * plan.c - reads the programs of recipe files, each program once even if several files have it; see plan.h.
 */
#include "cli/build/plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/exit_code.h"
#include "cli/base/memory.h"
#include "cli/store/store.h"
#include "util/hex.h"

const char *plan_key_text(const uint8_t *key, char text[PLAN_KEY_TEXT_SIZE])
{
    hex_put(text, INGOT_RECIPE_KEY_SIZE, key);
    text[PLAN_KEY_TEXT_SIZE - 1] = '\0';
    return text;
}

const char *plan_kind_name(ingot_recipe_kind_t kind)
{
    return kind == INGOT_RECIPE_PROGRAM ? "program" : "unrecorded";
}

void plan_tell_damage(const ingot_recipe_summary_t *summary, const char *path)
{
    if (summary->damaged_count != 0 || summary->torn_bytes != 0)
        (void)fprintf(stderr,
                      "ingot: %s: %" PRIu64 " damaged records and %" PRIu64
                      " unfinished bytes at the end were left out; record their programs again\n",
                      path, summary->damaged_count, summary->torn_bytes);
}

int plan_open_recipe(ingot_recipe_t *recipe, ingot_recipe_summary_t *summary, const char *path,
                     const ingot_persist_trust_t *trust)
{
    *summary = (ingot_recipe_summary_t)INGOT_RECIPE_SUMMARY_INIT;
    ingot_status_t status = ingot_recipe_open(recipe, path, trust);
    if (status == INGOT_SUCCESS)
        status = ingot_recipe_get_summary(*recipe, summary);
    if (status != INGOT_SUCCESS) {
        store_tell_failure(status, "%s", path);
        return EXIT_NO_STORE;
    }
    plan_tell_damage(summary, path);
    return EXIT_DONE;
}

int plan_find_program(ingot_recipe_t recipe, const char *digits, ingot_recipe_program_t *program)
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
    (void)fprintf(stderr, "ingot: %s has a key that begins with %s\n",
                  match_count == 0 ? "no program" : "more than one program", digits);
    return EXIT_FINDING;
}

static void add_programs(struct plan *plan, ingot_recipe_t recipe, uint64_t count)
{
    for (uint64_t i = 0; i < count; ++i) {
        plan->programs = memory_grow(plan->programs, plan->program_count, sizeof(*plan->programs));
        struct plan_program *program = &plan->programs[plan->program_count];
        *program = (struct plan_program){recipe, (size_t)i, INGOT_RECIPE_PROGRAM_INIT, NULL, 0};
        if (ingot_recipe_get_program(recipe, program->index, &program->facts) == INGOT_SUCCESS)
            ++plan->program_count;
    }
}

void plan_add(struct plan *plan, ingot_recipe_t recipe, const ingot_recipe_summary_t *summary)
{
    plan->recipes = memory_grow(plan->recipes, plan->recipe_count, sizeof(*plan->recipes));
    plan->recipes[plan->recipe_count++] = recipe;
    add_programs(plan, recipe, summary->program_count);
}

static int compare_plan_programs(const void *a, const void *b)
{
    const struct plan_program *left = a;
    const struct plan_program *right = b;
    const int order = memcmp(left->facts.key, right->facts.key, INGOT_RECIPE_KEY_SIZE);
    if (order != 0)
        return order;
    /* copies that have all texts come first, and among these the ones with the highest recorded build time */
    if ((left->facts.status == INGOT_SUCCESS) != (right->facts.status == INGOT_SUCCESS))
        return left->facts.status == INGOT_SUCCESS ? -1 : 1;
    return (left->facts.build_time_ns < right->facts.build_time_ns) -
           (left->facts.build_time_ns > right->facts.build_time_ns);
}

static int compare_costs(const void *a, const void *b)
{
    const struct plan_program *left = a;
    const struct plan_program *right = b;
    if (left->facts.build_time_ns != right->facts.build_time_ns)
        return left->facts.build_time_ns < right->facts.build_time_ns ? 1 : -1;
    return memcmp(left->facts.key, right->facts.key, INGOT_RECIPE_KEY_SIZE); /* so that the order does not vary */
}

void plan_sort(struct plan *plan)
{
    if (plan->program_count > 1)
        qsort(plan->programs, plan->program_count, sizeof(*plan->programs), compare_costs);
}

/* Moves duplicates of a program to the end of the list. */
static void set_repeated_aside(struct plan *plan)
{
    size_t kept = 0;
    if (plan->program_count == 0)
        return;
    qsort(plan->programs, plan->program_count, sizeof(*plan->programs), compare_plan_programs);
    for (size_t i = 1; i < plan->program_count; ++i) {
        const struct plan_program program = plan->programs[i];
        if (memcmp(plan->programs[kept].facts.key, program.facts.key, INGOT_RECIPE_KEY_SIZE) == 0)
            continue;
        plan->programs[i] = plan->programs[++kept];
        plan->programs[kept] = program;
    }
    plan->repeated_count = plan->program_count - kept - 1;
    plan->program_count = kept + 1;
    plan_sort(plan);
}

int plan_open(struct plan *plan, size_t path_count, char *const *paths, const ingot_persist_trust_t *trust)
{
    int code = EXIT_DONE;
    *plan = (struct plan){.recipes = NULL};
    for (size_t i = 0; i < path_count && code == EXIT_DONE; ++i) {
        ingot_recipe_t recipe = NULL;
        ingot_recipe_summary_t summary;
        code = plan_open_recipe(&recipe, &summary, paths[i], trust);
        if (code == EXIT_DONE)
            plan_add(plan, recipe, &summary);
    }
    set_repeated_aside(plan);
    return code;
}

/* ---- devices ---- */

bool plan_can_build(const ingot_recipe_program_t *program)
{
    return program->status == INGOT_SUCCESS && program->kind == INGOT_RECIPE_PROGRAM;
}

static bool is_of_backend(const char *device, const char *backend)
{
    const size_t length = strlen(backend);
    return strncmp(device, backend, length) == 0 && device[length] == ':';
}

static bool is_device_listed(const char *text, size_t device_count, char *const *devices)
{
    for (size_t i = 0; i < device_count; ++i) {
        if (strcmp(devices[i], text) == 0)
            return true;
    }
    return false;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text);
    const size_t end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

bool plan_is_for(const struct plan_program *program, size_t device, size_t device_count, char *const *devices)
{
    const char *text = devices[device];
    if (!is_of_backend(text, program->facts.backend))
        return false;
    for (size_t i = 0; i < program->device_count; ++i) {
        const struct plan_device *known = &program->devices[i];
        if (strcmp(known->text, text) == 0 ||
            (ends_with(text, known->text + known->platform) && !is_device_listed(known->text, device_count, devices)))
            return true;
    }
    return program->devices == NULL;
}
