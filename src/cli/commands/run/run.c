/*
 * run.c - `ingot run`: executes a command whose OpenCL programs and Level Zero modules are cached.
 *
 * The command gets the layers and their settings through environment variables, so its children get them, too.
 */
#include <argp.h>
#include <ingot/backend.h>
#include <ingot/persist.h>
#include <ingot/recipe.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/exit_code.h"
#include "cli/base/memory.h"
#include "cli/base/text.h"
#include "cli/command.h"
#include "cli/commands/run/run_child.h"
#include "cli/commands/run/run_layer.h"
#include "cli/commands/run/run_stats.h"
#include "cli/store/store.h"
#include "util/environment.h"

#define RECORD "INGOT_PERSIST_RECORD"

#define LAYERS "OPENCL_LAYERS"
#define DISABLE "INGOT_LAYER_DISABLE"

/* Read by the Python package ingot-cache, in every interpreter that has it. Others ignore it, so it breaks nothing. */
#define PYTHON "INGOT_PYTHON"

enum { KEY_DIR = 256, KEY_STRICT, KEY_ON_MISS, ROOT_CAPACITY = 16384 };

struct running {
    const char *directory; /* if directory, name_space or trace is NULL, the environment decides */
    const char *name_space;
    const char *trace;
    const char *recipe;
    const char *on_miss;
    bool is_read_only;
    bool has_stats;
    bool is_strict;
    char **command;
};

static const struct argp_option run_options[] = {
    {"store", 'd', "DIR", 0, "The store. Default: from the environment, INGOT_PERSIST_DIR first", 0},
    {"dir", KEY_DIR, "DIR", OPTION_HIDDEN, NULL, 0}, /* other commands have this name for the option */
    {"read-only", 'r', NULL, 0, "Load programs, but store none", 0},
    {"namespace", 'n', "NAME", 0, "The namespace. Default: INGOT_PERSIST_NAMESPACE, or each program's file name", 0},
    {"trace", 't', "FILE", OPTION_ARG_OPTIONAL, "Trace to standard error, or append the trace to FILE", 0},
    {"record", 'R', "FILE", 0, "Append what programs are compiled from to the recipe FILE, for ingot build", 0},
    {"stats", 's', NULL, 0, "Print at the end what was loaded and compiled, and the time saved", 0},
    {"on-miss", KEY_ON_MISS, "WHAT", 0, "What the store lacks: compile it, report it, too, or fail as a failed build",
     0},
    {"strict", KEY_STRICT, NULL, 0, "Do not execute the command if the store cannot be opened", 0},
    {NULL, 0, NULL, 0, NULL, 0},
};

static const char *const on_miss_words[] = {"compile", "report", "fail"};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct running *running = state->input;
    switch (key) {
    case 'd':
    case KEY_DIR: running->directory = value; return 0;
    case 'r': running->is_read_only = true; return 0;
    case 'n': running->name_space = value; return 0;
    case 't': running->trace = value != NULL ? value : ""; return 0;
    case 'R': running->recipe = value; return 0;
    case 's': running->has_stats = true; return 0;
    case KEY_ON_MISS:
        if (!environment_choose(value, 3, on_miss_words, &(size_t){0}))
            argp_error(state, "--on-miss: \"%s\" is not compile, report or fail", value);
        running->on_miss = value;
        return 0;
    case KEY_STRICT: running->is_strict = true; return 0;
    case ARGP_KEY_ARG: /* the following arguments belong to the command */
        running->command = state->argv + state->next - 1;
        state->next = state->argc;
        return 0;
    case ARGP_KEY_END:
        if (running->command == NULL)
            argp_error(state, "name a command");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static void set(const char *name, const char *value)
{
    if (setenv(name, value, 1) != 0) {
        (void)fputs("ingot run: no memory for the environment\n", stderr);
        exit(EXIT_RUN_FAILED);
    }
}

static void set_path(const char *name, const char *path)
{
    char *absolute = run_layer_absolute(path);
    set(name, absolute);
    free(absolute);
}

/* True if a colon-separated list contains this word. */
static bool has_word(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *each = list; each != NULL; each = strchr(each, ':')) {
        each += *each == ':';
        if (strncmp(each, word, length) == 0 && (each[length] == ':' || each[length] == '\0'))
            return true;
    }
    return false;
}

/* Puts the layer before all others, because ocl-icd passes only the first one on to child processes. */
static bool set_layer(void)
{
    const char *others = getenv(LAYERS);
    char *layer = run_layer_find();
    if (layer == NULL)
        return false;
    if (others == NULL || others[0] == '\0') {
        set(LAYERS, layer);
    } else if (!has_word(others, layer)) {
        layer = text_append(layer, ":", others);
        set(LAYERS, layer);
    }
    free(layer);
    return true;
}

/* Makes the Level Zero loader take the layer as its driver, with the drivers for other devices that it knows itself. A
 * user's own list is left alone. */
static void set_level_zero(void)
{
    const char *drivers = getenv(RUN_LAYER_DRIVERS);
    char *layer = drivers == NULL || drivers[0] == '\0' ? run_layer_find_level_zero() : NULL;
    if (layer == NULL)
        return;
    layer = text_append(layer, ",", "libze_intel_vpu.so.1,libze_intel_npu.so.1");
    set(RUN_LAYER_DRIVERS, layer);
    free(layer);
}

static void set_variables(const struct running *running)
{
    if (running->directory != NULL)
        set_path("INGOT_PERSIST_DIR", running->directory);
    if (running->is_read_only)
        set("INGOT_PERSIST_READ_ONLY", "1");
    if (running->name_space != NULL)
        set("INGOT_PERSIST_NAMESPACE", running->name_space);
    if (running->recipe != NULL)
        set_path(RECORD, running->recipe);
    if (running->on_miss != NULL)
        set("INGOT_ON_MISS", running->on_miss);
    if (running->trace != NULL && running->trace[0] != '\0')
        set_path("INGOT_TRACE", running->trace);
    else if (running->trace != NULL)
        set("INGOT_TRACE", "1");
    set_level_zero();
    if (getenv(PYTHON) == NULL)
        set(PYTHON, "all");
}

/* Opens the store as the layer will, except that nothing is evicted. */
static ingot_status_t try_store(void)
{
    char root[ROOT_CAPACITY];
    const char *disable = getenv(DISABLE);
    uint64_t is_off = 0;
    ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
    ingot_storage_t storage = NULL;
    if (disable != NULL && disable[0] != '\0' && !environment_parse(ENVIRONMENT_SWITCH, disable, &is_off))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, DISABLE ": \"%.80s\" is not %s", disable,
                                      environment_expected(ENVIRONMENT_SWITCH));
    ingot_status_t status = ingot_persist_info_from_environment(&info, sizeof(root), root);
    if (info.max_bytes == 0)
        info.max_bytes = UINT64_MAX;
    if (info.recipe_max_bytes == 0)
        info.recipe_max_bytes = UINT64_MAX;
    info.on_event = store_tell_event;
    if (status == INGOT_SUCCESS)
        status = ingot_persist_open(&storage, &info);
    ingot_storage_release(storage);
    return status;
}

/* Without a store, the layer caches nothing and says so only in the trace, so the store is opened here first. Returns
 * false if the command must not be executed. */
static bool check_store(const struct running *running)
{
    const ingot_status_t status = try_store();
    if (status != INGOT_SUCCESS)
        (void)fprintf(stderr, "ingot run: %s without a store: %s (%s)\n",
                      running->is_strict ? "the command is not executed" : "the command runs",
                      ingot_last_error_detail(), ingot_status_name(status));
    return status == INGOT_SUCCESS || !running->is_strict;
}

/* The layer records nothing if the file cannot be written, and does not say why, so the file is opened here first. */
static bool check_recipe(void)
{
    const char *path = getenv(RECORD);
    ingot_recipe_writer_info_t info = INGOT_RECIPE_WRITER_INFO_INIT;
    ingot_recipe_writer_t writer = NULL;
    if (path == NULL || path[0] == '\0')
        return true;
    info.path = path;
    const ingot_status_t status = ingot_recipe_writer_open(&writer, &info);
    if (status != INGOT_SUCCESS)
        (void)fprintf(stderr, "ingot run: the recipe %s cannot be written: %s (%s)\n", path, ingot_last_error_detail(),
                      ingot_status_name(status));
    ingot_recipe_writer_release(writer);
    return status == INGOT_SUCCESS;
}

static int run_with_stats(char **command)
{
    int status = 0;
    char *path = run_stats_begin();
    if (path == NULL)
        return EXIT_RUN_FAILED;
    const bool has_run = run_child_wait(command, &status);
    run_stats_end(path);
    free(path);
    return has_run ? run_child_end(status) : EXIT_RUN_FAILED;
}

static int run(int argc, char **argv)
{
    static const struct argp argp = {
        run_options,
        parse_option,
        "[--] COMMAND [ARGUMENT...]",
        "Executes COMMAND with the OpenCL layer, which loads compiled programs from the store and stores new ones. If "
        "the store cannot be opened, says why and executes COMMAND all the same. The exit status is the command's; 125 "
        "if it could not be prepared, 126 if it could not be executed, 127 if it was not found.",
        NULL,
        NULL,
        NULL};
    struct running running = {.directory = NULL};

    argp_err_exit_status = EXIT_RUN_FAILED;
    (void)argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &running);
    set_variables(&running);
    if (!set_layer() || !check_recipe() || !check_store(&running))
        return EXIT_RUN_FAILED;
    return running.has_stats ? run_with_stats(running.command) : run_child_execute(running.command);
}

const struct command command_run = {"run", "execute a command whose OpenCL programs are cached", run};
