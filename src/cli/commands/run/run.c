/*
 * run.c - `ingot run`: executes a command whose OpenCL programs and Level Zero modules are cached.
 *
 * The command gets the layers and their settings through environment variables, so its children get them, too.
 */
#include <ingot/backend.h>
#include <ingot/persist.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/memory.h"
#include "cli/base/text.h"
#include "cli/commands/all.h"
#include "cli/commands/run/run.h"
#include "cli/store/store.h"
#include "util/environment.h"

#define RECORD "INGOT_RECORD"

#define LAYERS "OPENCL_LAYERS"
#define DISABLE "INGOT_LAYER_DISABLE"

/* Read by the Python package ingot-cache, in every interpreter that has it. Others ignore it, so it breaks nothing. */
#define PYTHON "INGOT_PYTHON"

#define ON_MISS_WORDS "compile report fail"

enum { WORD_SIZE = 16 };

struct running {
    const char *directory; /* if directory, name_space or trace is NULL, the environment decides */
    const char *name_space;
    const char *trace;
    const char *record;
    unsigned on_miss; /* 0 if not given */
    bool is_read_only;
    bool has_stats;
    bool stores_now;
    bool is_strict;
    char **command;
};

static const struct command_option options[] = {
    {NULL, 0, VALUE_TEXT, "COMMAND [ARGUMENT...]", offsetof(struct running, command),
     .flags = OPTION_REQUIRED | OPTION_REST, .help = "The command. Options after it belong to it"},
    {"store", 'd', VALUE_TEXT, "DIR", offsetof(struct running, directory),
     .help = "The store. Default: from the environment, INGOT_PERSIST_DIR first"},
    {"dir", 0, VALUE_TEXT, "DIR", offsetof(struct running, directory), .flags = OPTION_HIDDEN,
     .help = "The name that the option has in other commands"},
    {"read-only", 'r', VALUE_NONE, NULL, offsetof(struct running, is_read_only),
     .help = "Load programs, but store none, and create no store"},
    {"namespace", 'n', VALUE_TEXT, "NAME", offsetof(struct running, name_space),
     .help = "The namespace of all programs. Default: INGOT_PERSIST_NAMESPACE, or each program's file name"},
    {"trace", 't', VALUE_TEXT, "FILE", offsetof(struct running, trace), .flags = OPTION_ARG_OPTIONAL,
     .help = "Write a line per event to standard error, or append it to FILE"},
    {"record", 'R', VALUE_TEXT, "DIR", offsetof(struct running, record),
     .help = "Record what programs are compiled from in the store DIR, which is created if it is missing. \"ingot "
             "build DIR\" compiles them elsewhere"},
    {"stats", 's', VALUE_NONE, NULL, offsetof(struct running, has_stats),
     .help = "Print at the end on standard error what all processes together loaded, compiled, passed through to the "
             "driver, stored and refused, and how many programs were loaded after waiting for another process that "
             "compiled them"},
    {"now", 0, VALUE_NONE, NULL, offsetof(struct running, stores_now),
     .help = "Store the programs of devices that generate code at launch (PoCL), too, right after their builds. That "
             "takes several times as long as a build"},
    {"on-miss", 0, VALUE_WORD, "WHAT", offsetof(struct running, on_miss), .words = ON_MISS_WORDS,
     .help = "What happens to programs that the store lacks (INGOT_ON_MISS): they are compiled, compiled with a line "
             "on standard error (report), or fail as programs that do not compile"},
    {"strict", 0, VALUE_NONE, NULL, offsetof(struct running, is_strict),
     .help = "Do not execute the command if the layer is missing, or if the store, the record or the counts cannot be "
             "opened"},
    {.help = NULL},
};

static void set_variable(const char *name, const char *value)
{
    if (setenv(name, value, 1) != 0) {
        (void)fputs("ingot run: no memory for the environment\n", stderr);
        exit(EXIT_RUN_FAILED);
    }
}

static void set_path(const char *name, const char *path)
{
    char *absolute = run_layer_absolute(path);
    set_variable(name, absolute);
    free(absolute);
}

/* Puts the layer before all others, because ocl-icd passes only the first one on to child processes. */
static bool set_layer(void)
{
    const char *others = getenv(LAYERS);
    char *layer = run_layer_find();
    if (layer == NULL)
        return false;
    const size_t length = strlen(layer);
    const char *each = others != NULL && others[0] != '\0' ? others : NULL;
    while (each != NULL && (strncmp(each, layer, length) != 0 || (each[length] != ':' && each[length] != '\0'))) {
        each = strchr(each, ':');
        if (each != NULL)
            ++each;
    }
    if (others == NULL || others[0] == '\0') {
        set_variable(LAYERS, layer);
    } else if (each == NULL) {
        layer = text_append(layer, ":", others);
        set_variable(LAYERS, layer);
    }
    free(layer);
    return true;
}

static void set_variables(const struct running *running)
{
    char word[WORD_SIZE];
    if (running->directory != NULL)
        set_path("INGOT_PERSIST_DIR", running->directory);
    if (running->stores_now)
        set_variable("INGOT_PERSIST_STORE_MODE", "now");
    if (running->is_read_only)
        set_variable("INGOT_PERSIST_READ_ONLY", "1");
    if (running->name_space != NULL)
        set_variable("INGOT_PERSIST_NAMESPACE", running->name_space);
    if (running->record != NULL)
        set_path(RECORD, running->record);
    if (running->on_miss != 0 && command_get_word(ON_MISS_WORDS, running->on_miss - 1, sizeof(word), word))
        set_variable("INGOT_ON_MISS", word);
    if (running->trace != NULL && running->trace[0] != '\0')
        set_path("INGOT_TRACE", running->trace);
    else if (running->trace != NULL)
        set_variable("INGOT_TRACE", "1");
    /* The Level Zero loader takes the layer as its driver, with the drivers for other devices that it knows itself. A
     * user's own list is left alone. */
    const char *drivers = getenv(RUN_LAYER_DRIVERS);
    char *layer = drivers == NULL || drivers[0] == '\0' ? run_layer_find_level_zero() : NULL;
    if (layer != NULL) {
        layer = text_append(layer, ",", "libze_intel_vpu.so.1,libze_intel_npu.so.1");
        set_variable(RUN_LAYER_DRIVERS, layer);
        free(layer);
    }
    if (getenv(PYTHON) == NULL)
        set_variable(PYTHON, "all");
}

/* Opens a store as the layer will, except that nothing is evicted. path: NULL for that of the environment. */
static ingot_status_t try_store(const char *path)
{
    const char *disable = getenv(DISABLE);
    uint64_t is_off = 0;
    ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
    ingot_storage_t storage = NULL;
    if (disable != NULL && disable[0] != '\0' && !environment_parse(ENVIRONMENT_SWITCH, disable, &is_off))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, DISABLE ": \"%.80s\" is not %s", disable,
                                      environment_expected(ENVIRONMENT_SWITCH));
    info.path = path;
    info.max_bytes = INGOT_UNLIMITED;
    info.on_event = store_tell_event;
    info.flags = path == NULL ? INGOT_PERSIST_FROM_ENVIRONMENT : 0;
    const ingot_status_t status = ingot_persist_open(&storage, &info);
    ingot_storage_release(storage);
    return status;
}

/* Without a store or a record, the layer caches or records nothing and says so only in the trace, so both are opened
 * here first. Each step says what is wrong. */
static int run_application(void *values)
{
    struct running *running = values;
    set_variables(running);
    bool is_ready = set_layer();
    const char *record = getenv(RECORD);
    ingot_status_t status = record != NULL && record[0] != '\0' ? try_store(record) : INGOT_SUCCESS;
    if (status != INGOT_SUCCESS) {
        (void)fprintf(stderr, "ingot run: nothing is recorded in %s: %s (%s)\n", record, ingot_last_error_detail(),
                      ingot_status_name(status));
        (void)unsetenv(RECORD);
        is_ready = false;
    }
    status = try_store(NULL);
    if (status != INGOT_SUCCESS)
        (void)fprintf(stderr, "ingot run: %s without a store: %s (%s)\n",
                      running->is_strict ? "the command is not executed" : "the command runs",
                      ingot_last_error_detail(), ingot_status_name(status));
    if (running->is_strict && (!is_ready || status != INGOT_SUCCESS))
        return EXIT_RUN_FAILED;
    return running->has_stats ? run_and_count(running->command, running->is_strict)
                              : run_replace_process(running->command);
}

const struct command command_run = {
    .name = "run",
    .group = "Run and build",
    .summary = "execute a command whose OpenCL programs are cached",
    .about = "Executes a command with the OpenCL layer and the Level Zero layer, which load the compiled programs of "
             "unmodified applications from the store and store new ones. It puts the OpenCL layer before those that "
             "OPENCL_LAYERS already names, so child processes use it, too. Unless INGOT_PYTHON is set, it is set to "
             "\"all\": in a Python that has the package ingot-cache, Triton, torch, JAX, cuda.core and CuPy then use "
             "the store as well.\n\n"
             "The store is created if it is missing. If it cannot be opened, for example because a setting is wrong or "
             "the home directory is read-only, or if the layer is missing, one line on standard error says why, and "
             "the command runs without it; with --strict, the command does not run. With --stats, the tool waits for "
             "the command and forwards signals to it.\n\n"
             "On devices that generate code at launch (PoCL), storing takes several times as long as compiling. There, "
             "the OpenCL layer loads the programs that the store has, and leaves all others to the driver and its own "
             "cache. With --now, it stores them as on other devices. Or record the programs with --record DIR, and "
             "store them with \"ingot build DIR\".\n\n"
             "The exit status is the command's; 125 for wrong usage, and with --strict if something is missing; 126 if "
             "it could not be executed, 127 if it was not found.",
    .options = options,
    .size = sizeof(struct running),
    .run = run_application,
    .usage_exit = EXIT_RUN_FAILED,
    .is_bare = true,
};
