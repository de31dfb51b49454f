/*
 * merge.c - `ingot recipe merge` and `ingot recipe prune`: copy programs to another recipe file.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/exit_code.h"
#include "cli/base/json.h"
#include "cli/base/memory.h"
#include "cli/base/options.h"
#include "cli/base/output.h"
#include "cli/base/text.h"
#include "cli/build/plan.h"
#include "cli/commands/all.h"
#include "cli/store/store.h"

#define LARGEST_FILE (UINT64_C(1) << 30)

enum { LOCK_TIMEOUT_MS = 10000 };

/* The values of `merge` and of `prune`. */
struct merging {
    struct common_options common;
    struct plan plan;        /* of the recipes to read */
    const char *path;        /* the recipe to change */
    struct text_list others; /* the recipes to add */
    const char *name;        /* prune removes programs with this text in their name; NULL: none */
    uint64_t faster_ns;      /* prune removes programs that compiled in less time */
    bool keeps_unrecorded;   /* prune keeps programs that cannot be built, too */
};

static const struct command_option merge_options[] = {
    {NULL, 0, VALUE_FILE, "INTO", offsetof(struct merging, path), .flags = OPTION_REQUIRED,
     .help = "The recipe to which the programs are added; it is created if it is missing"},
    {NULL, 0, VALUE_FILE, "FILE", offsetof(struct merging, others), .flags = OPTION_REQUIRED | OPTION_REPEATED,
     .help = "The recipes with the programs to add"},
    {.help = NULL},
};

static const struct command_option prune_options[] = {
    {NULL, 0, VALUE_FILE, "FILE", offsetof(struct merging, path), .flags = OPTION_REQUIRED,
     .help = "The recipe. No process may record to it at the same time, because its additions would be lost"},
    {"name", 'N', VALUE_TEXT, "TEXT", offsetof(struct merging, name),
     .help = "Also remove programs with TEXT in their name"},
    {"faster", 'f', VALUE_TIME, "TIME", offsetof(struct merging, faster_ns),
     .help = "Also remove programs that compiled in less than TIME"},
    {"unrecorded", 0, VALUE_NONE, NULL, offsetof(struct merging, keeps_unrecorded),
     .help = "Keep programs that cannot be built"},
    {.help = NULL},
};

struct copying {
    ingot_recipe_writer_t writer;
    uint64_t copied_count;
    uint64_t dropped_count;
    uint64_t failed_count;
};

static int open_writer(struct copying *copying, const char *path)
{
    ingot_recipe_record_info_t info = INGOT_RECIPE_RECORD_INFO_INIT;
    info.path = path;
    info.max_bytes = LARGEST_FILE;
    info.lock_timeout_ms = LOCK_TIMEOUT_MS;
    const ingot_status_t status = ingot_recipe_writer_open(&copying->writer, &info);
    if (status == INGOT_SUCCESS)
        return EXIT_DONE;
    (void)store_failed("opening the recipe for writing", status);
    return EXIT_NO_STORE;
}

/* True if the status means that this copy of a program is damaged. Another copy may be intact. */
static bool is_damage(ingot_status_t status)
{
    return status == INGOT_NOT_FOUND || status == INGOT_BLOB_CORRUPT;
}

/* True if the program itself is too large. For any other program, INGOT_NO_SPACE means that the output is full. */
static bool is_too_large(const struct plan_program *program)
{
    return program->facts.status == INGOT_NO_SPACE;
}

/* Counts a program, and reports why it was not copied. Returns EXIT_FAILED if copying must stop, for example because
 * the file is full. */
static int note_copy_result(struct copying *copying, const struct plan_program *program, ingot_status_t status)
{
    char key[PLAN_KEY_TEXT_SIZE];
    copying->copied_count += status == INGOT_SUCCESS;
    if (status == INGOT_SUCCESS)
        return EXIT_DONE;
    ++copying->failed_count;
    store_tell_failure(status, "%.*s was not copied", PLAN_SHORT_KEY, plan_key_text(program->facts.key, key));
    return is_damage(status) || is_too_large(program) ? EXIT_DONE : EXIT_FAILED;
}

static ingot_status_t try_copy(const struct copying *copying, const struct plan_program *program)
{
    return ingot_recipe_writer_copy(copying->writer, program->recipe, program->index);
}

static int copy_plan_program(struct copying *copying, const struct plan_program *program)
{
    return note_copy_result(copying, program, try_copy(copying, program));
}

static int print_copy_counts(const struct merging *merging, const struct copying *copying)
{
    cJSON *json = cJSON_CreateObject();
    json_add_u64(json, "copied", copying->copied_count);
    json_add_u64(json, "removed", copying->dropped_count);
    json_add_u64(json, "failed", copying->failed_count);
    output_print(json, merging->common.is_json,
                 "{copied} programs copied, {removed} removed, {failed} could not be copied\n");
    return copying->failed_count != 0 ? EXIT_FINDING : EXIT_DONE;
}

/* Copies all programs twice: each of several files may have other ids for a program, and only one of them an intact
 * copy. The second time, a program that has been copied from any file only gets the ids that it lacks. */
static int copy_plan_programs(struct copying *copying, const struct plan *plan)
{
    int code = EXIT_DONE;
    for (size_t i = 0; i < plan->program_count + plan->repeated_count; ++i) {
        const struct plan_program *program = &plan->programs[i];
        const ingot_status_t status = try_copy(copying, program);
        if (status != INGOT_SUCCESS && !is_damage(status) && !is_too_large(program))
            return note_copy_result(copying, program, status);
    }
    for (size_t i = 0; i < plan->program_count && code == EXIT_DONE; ++i)
        code = copy_plan_program(copying, &plan->programs[i]);
    return code;
}

static int merge_recipes(void *values)
{
    struct merging *merging = values;
    struct copying copying = {.writer = NULL};
    int code = plan_open(&merging->plan, merging->others.count, merging->others.items, NULL);
    if (code == EXIT_DONE)
        code = open_writer(&copying, merging->path);
    if (code == EXIT_DONE)
        code = copy_plan_programs(&copying, &merging->plan);
    ingot_recipe_writer_release(copying.writer);
    return code == EXIT_DONE ? print_copy_counts(merging, &copying) : code;
}

static bool is_kept(const struct merging *merging, const ingot_recipe_program_t *program)
{
    if (program->status != INGOT_SUCCESS && !(merging->keeps_unrecorded && program->kind == INGOT_RECIPE_UNRECORDED))
        return false;
    if (merging->name != NULL && text_contains(program->name, merging->name))
        return false;
    return program->build_time_ns == 0 || program->build_time_ns >= merging->faster_ns;
}

/* Copies the programs that are kept to a new file, which then replaces the old one. */
static int rewrite_recipe(const struct merging *merging, struct copying *copying, const char *new_path)
{
    const struct plan *plan = &merging->plan;
    int code = open_writer(copying, new_path);
    for (size_t i = 0; i < plan->program_count && code == EXIT_DONE; ++i) {
        if (is_kept(merging, &plan->programs[i].facts))
            code = copy_plan_program(copying, &plan->programs[i]);
        else
            ++copying->dropped_count;
    }
    ingot_recipe_writer_release(copying->writer);
    if (code == EXIT_DONE && rename(new_path, merging->path) != 0) {
        (void)fprintf(stderr, "ingot: %s could not be replaced: %s\n", merging->path, strerror(errno));
        code = EXIT_FAILED;
    }
    if (code != EXIT_DONE)
        (void)unlink(new_path);
    return code;
}

static int prune_recipe(void *values)
{
    struct merging *merging = values;
    struct copying copying = {.writer = NULL};
    char *path = memory_copy_text(merging->path);
    char *new_path = text_append(memory_copy_text(path), "", ".pruned");
    int code = plan_open(&merging->plan, 1, &path, NULL);
    if (code == EXIT_DONE && access(new_path, F_OK) == 0) {
        (void)fprintf(stderr, "ingot: %s exists: another prune is running; if none is, remove this file\n", new_path);
        code = EXIT_FAILED;
    } else if (code == EXIT_DONE) {
        code = rewrite_recipe(merging, &copying, new_path);
    }
    free(new_path);
    free(path);
    return code == EXIT_DONE ? print_copy_counts(merging, &copying) : code;
}

const struct command command_recipe_merge = {
    .name = "recipe merge",
    .group = "Run and build",
    .summary = "add the programs of recipes to another one",
    .about =
        "Adds the programs of recipes to the recipe INTO. The result contains each program and each text only once.",
    .options = merge_options,
    .size = sizeof(struct merging),
    .run = merge_recipes,
};

const struct command command_recipe_prune = {
    .name = "recipe prune",
    .group = "Run and build",
    .summary = "remove programs from a recipe",
    .about =
        "Rewrites a recipe without programs that cannot be built, damaged records, and texts that no program needs.",
    .options = prune_options,
    .size = sizeof(struct merging),
    .run = prune_recipe,
};
