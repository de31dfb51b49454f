/*
 * merge.c - `ingot recipe merge` and `ingot recipe prune`: copy programs to another recipe file.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/exit_code.h"
#include "cli/base/json.h"
#include "cli/base/memory.h"
#include "cli/base/text.h"
#include "cli/build/plan.h"
#include "cli/commands/recipe/actions.h"
#include "cli/store/store.h"

#define LARGEST_FILE (UINT64_C(1) << 30)

enum { LOCK_TIMEOUT_MS = 10000 };

struct copying {
    ingot_recipe_writer_t writer;
    uint64_t copied_count;
    uint64_t dropped_count;
    uint64_t failed_count;
};

static int open_writer(struct copying *copying, const char *path)
{
    ingot_recipe_writer_info_t info = INGOT_RECIPE_WRITER_INFO_INIT;
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
static int take_result(struct copying *copying, const struct plan_program *program, ingot_status_t status)
{
    char key[PLAN_KEY_TEXT_SIZE];
    copying->copied_count += status == INGOT_SUCCESS;
    if (status == INGOT_SUCCESS)
        return EXIT_DONE;
    ++copying->failed_count;
    (void)fprintf(stderr, "ingot: %.*s was not copied: %s: %s\n", PLAN_SHORT_KEY,
                  plan_key_text(program->facts.key, key), ingot_status_name(status), ingot_last_error_detail());
    return is_damage(status) || is_too_large(program) ? EXIT_DONE : EXIT_FAILED;
}

static ingot_status_t try_copy(const struct copying *copying, const struct plan_program *program)
{
    return ingot_recipe_writer_copy(copying->writer, program->recipe, program->index);
}

static int copy(struct copying *copying, const struct plan_program *program)
{
    return take_result(copying, program, try_copy(copying, program));
}

static int tell(const struct recipe_request *request, const struct copying *copying)
{
    if (request->common.is_json) {
        cJSON *json = cJSON_CreateObject();
        json_add_u64(json, "copied", copying->copied_count);
        json_add_u64(json, "removed", copying->dropped_count);
        json_add_u64(json, "failed", copying->failed_count);
        json_print(json);
    } else {
        (void)printf("%" PRIu64 " programs copied, %" PRIu64 " removed, %" PRIu64 " could not be copied\n",
                     copying->copied_count, copying->dropped_count, copying->failed_count);
    }
    return copying->failed_count != 0 ? EXIT_FINDING : EXIT_DONE;
}

/* Copies the ids of duplicates: if several files have a program, each may have different ids for it. */
static int copy_repeated_ids(struct copying *copying, const struct plan *plan)
{
    ingot_status_t status = INGOT_SUCCESS;
    for (size_t i = 0; i < plan->repeated_count; ++i) {
        const struct plan_program *repeated = &plan->programs[plan->program_count + i];
        if (is_too_large(repeated))
            continue;
        status = try_copy(copying, repeated);
        if (status != INGOT_SUCCESS && !is_damage(status))
            return store_failed("copying the ids of a program", status);
    }
    return EXIT_DONE;
}

/* Copies each program, and the ids of all its duplicates. If a program is damaged, an intact duplicate may be copied in
 * its place. So damaged programs are tried again at the end, which then adds their ids to the copied program. */
static int copy_all(struct copying *copying, const struct plan *plan)
{
    bool *is_left = memory_get(plan->program_count + 1);
    int code = EXIT_DONE;
    for (size_t i = 0; i < plan->program_count && code == EXIT_DONE; ++i) {
        const ingot_status_t status = try_copy(copying, &plan->programs[i]);
        is_left[i] = is_damage(status);
        if (!is_left[i])
            code = take_result(copying, &plan->programs[i], status);
    }
    if (code == EXIT_DONE)
        code = copy_repeated_ids(copying, plan);
    for (size_t i = 0; i < plan->program_count && code == EXIT_DONE; ++i) {
        if (is_left[i])
            code = copy(copying, &plan->programs[i]);
    }
    free(is_left);
    return code;
}

int recipe_merge(const struct recipe_request *request)
{
    struct copying copying = {.writer = NULL};
    struct plan plan;
    int code = plan_open(&plan, request->count - 1, request->arguments + 1, NULL);
    if (code == EXIT_DONE)
        code = open_writer(&copying, request->arguments[0]);
    if (code == EXIT_DONE)
        code = copy_all(&copying, &plan);
    ingot_recipe_writer_release(copying.writer);
    plan_close(&plan);
    return code == EXIT_DONE ? tell(request, &copying) : code;
}

static bool is_kept(const struct recipe_request *request, const ingot_recipe_program_t *program)
{
    if (program->status != INGOT_SUCCESS && !(request->keeps_unrecorded && program->kind == INGOT_RECIPE_UNRECORDED))
        return false;
    if (request->name != NULL && text_contains(program->name, request->name))
        return false;
    return program->build_time_ns == 0 || program->build_time_ns >= request->faster_ns;
}

/* Copies the programs that are kept to a new file, which then replaces the old one. */
static int rewrite(const struct recipe_request *request, struct copying *copying, const struct plan *plan,
                   const char *path, const char *new_path)
{
    int code = open_writer(copying, new_path);
    for (size_t i = 0; i < plan->program_count && code == EXIT_DONE; ++i) {
        if (is_kept(request, &plan->programs[i].facts))
            code = copy(copying, &plan->programs[i]);
        else
            ++copying->dropped_count;
    }
    ingot_recipe_writer_release(copying->writer);
    if (code == EXIT_DONE && rename(new_path, path) != 0) {
        (void)fprintf(stderr, "ingot: %s could not be replaced: %s\n", path, strerror(errno));
        code = EXIT_FAILED;
    }
    if (code != EXIT_DONE)
        (void)unlink(new_path);
    return code;
}

int recipe_prune(const struct recipe_request *request)
{
    struct copying copying = {.writer = NULL};
    struct plan plan;
    char *new_path = text_append(memory_copy_text(request->arguments[0]), "", ".pruned");
    int code = EXIT_USAGE;
    if (request->count > 1) {
        (void)fprintf(stderr, "ingot: prune takes one file\n");
        free(new_path);
        return code;
    }
    code = plan_open(&plan, 1, request->arguments, NULL);
    if (code == EXIT_DONE && access(new_path, F_OK) == 0) {
        (void)fprintf(stderr, "ingot: %s exists: another prune is running; if none is, remove this file\n", new_path);
        code = EXIT_FAILED;
    } else if (code == EXIT_DONE) {
        code = rewrite(request, &copying, &plan, request->arguments[0], new_path);
    }
    plan_close(&plan);
    free(new_path);
    return code == EXIT_DONE ? tell(request, &copying) : code;
}
