/*
 * run.c - `ingot run`: executes a command whose OpenCL programs and Level Zero modules are cached.
 *
 * The command gets the layers and their settings through environment variables, so its children get them, too.
 */
#include <errno.h>
#include <ingot/backend.h>
#include <ingot/persist.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/base.h"
#include "cli/commands/all.h"
#include "cli/store/store.h"
#include "util/environment.h"
#include "util/quantity.h"

#define RECORD "INGOT_RECORD"
#define LAYERS "OPENCL_LAYERS"
#define DISABLE "INGOT_LAYER_DISABLE"
#define DRIVERS "ZE_ENABLE_ALT_DRIVERS" /* the Level Zero loader's list, separated by commas */

/* Read by the Python package ingot-cache, in every interpreter that has it. Others ignore it, so it breaks nothing. */
#define PYTHON "INGOT_PYTHON"

#define ON_MISS_WORDS "compile report fail"

#define LAYER_NAME "libIngotOpenCLLayer.so"
#define LEVEL_ZERO_NAME "libIngotLevelZeroLayer.so"

enum { WORD_SIZE = 16, NOT_EXECUTABLE = 126, NO_COMMAND = 127, KILLED_BY = 128 };

/* Where the layers may be. All but the last one are relative to the tool's directory: in an installation, and in the
 * build tree. The last one is the configured library directory, for a tool that was copied elsewhere. */
static const char *const places[] = {INGOT_LIB_FROM_BIN, "../layers/opencl", "../layers/level_zero", INGOT_FULL_LIBDIR};

enum { PLACE_COUNT = sizeof(places) / sizeof(places[0]) };

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

/* ---- the libraries of the layers ---- */

/* Returns a path that does not depend on the working directory; the caller frees it. */
static char *make_absolute(const char *path)
{
    char *directory = path[0] != '/' ? getcwd(NULL, 0) : NULL;
    return directory != NULL ? text_append(directory, "/", path) : memory_copy_text(path);
}

/* Returns the tool's directory, without a trailing slash. */
static char *find_own_directory(void)
{
    char path[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
    path[length > 0 ? length : 0] = '\0';
    if (length <= 0 && realpath((const char *)getauxval(AT_EXECFN), path) == NULL) /* there is no /proc */
        path[0] = '\0';
    char *slash = strrchr(path, '/');
    if (slash != NULL)
        *slash = '\0';
    return memory_copy_text(path);
}

static char *find_beside(const char *directory, const char *name)
{
    for (size_t i = 0; i < PLACE_COUNT; ++i) {
        char *beside = places[i][0] == '/' ? memory_copy_text(places[i])
                                           : text_append(memory_copy_text(directory), "/", places[i]);
        beside = text_append(beside, "/", name);
        char *found = realpath(beside, NULL);
        free(beside);
        if (found != NULL)
            return found;
    }
    return NULL;
}

/* Returns the absolute path of the layer, which the caller frees. On failure, prints a message and returns NULL. */
static char *find_opencl_layer(void)
{
    const char *named = getenv("INGOT_LAYER_PATH");
    const bool is_named = named != NULL && named[0] != '\0';
    char *directory = find_own_directory();
    char *layer = is_named ? make_absolute(named) : find_beside(directory, LAYER_NAME);
    if (layer != NULL && (access(layer, R_OK) != 0 || strchr(layer, ':') != NULL)) {
        (void)fprintf(stderr, "ingot: the OpenCL layer %s %s\n", layer,
                      strchr(layer, ':') != NULL ? "has a colon in its path, which OPENCL_LAYERS does not allow"
                                                 : "cannot be read");
        free(layer);
        layer = NULL;
    } else if (layer == NULL) {
        (void)fprintf(stderr,
                      "ingot: the OpenCL layer is not installed: %s is neither in %s/%s nor in %s; install the package "
                      "ingot-opencl-layer, or name the file in INGOT_LAYER_PATH\n",
                      LAYER_NAME, directory, INGOT_LIB_FROM_BIN, INGOT_FULL_LIBDIR);
    }
    free(directory);
    return layer;
}

/* Returns the absolute path of the Level Zero layer, which the caller frees, or NULL if it is not installed. */
static char *find_level_zero_layer(void)
{
    char *directory = find_own_directory();
    char *layer = find_beside(directory, LEVEL_ZERO_NAME);
    free(directory);
    if (layer == NULL || strchr(layer, ',') == NULL)
        return layer;
    (void)fprintf(stderr, "ingot: the Level Zero layer %s has a comma in its path, which " DRIVERS " does not allow\n",
                  layer);
    free(layer);
    return NULL;
}

/* ---- the environment of the command ---- */

static void set_variable(const char *name, const char *value)
{
    if (setenv(name, value, 1) != 0) {
        (void)fputs("ingot run: no memory for the environment\n", stderr);
        exit(EXIT_RUN_FAILED);
    }
}

static void set_path(const char *name, const char *path)
{
    char *absolute = make_absolute(path);
    set_variable(name, absolute);
    free(absolute);
}

/* Puts the layer before all others, because ocl-icd passes only the first one on to child processes. */
static bool set_layer(void)
{
    const char *others = getenv(LAYERS);
    char *layer = find_opencl_layer();
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
    const char *drivers = getenv(DRIVERS);
    char *layer = drivers == NULL || drivers[0] == '\0' ? find_level_zero_layer() : NULL;
    if (layer != NULL) {
        layer = text_append(layer, ",", "libze_intel_vpu.so.1,libze_intel_npu.so.1");
        set_variable(DRIVERS, layer);
        free(layer);
    }
    if (getenv(PYTHON) == NULL)
        set_variable(PYTHON, "all");
}

/* ---- executing the command ---- */

/*
 * With --stats, this process only waits for signals while the child runs, which are blocked from before the fork. Those
 * that another process sends to this process alone are forwarded; the terminal's reach the child directly. If a process
 * sends a signal to the whole process group, the child gets it twice: this process cannot tell it from a signal for
 * this process alone, which must not be lost.
 *
 * For each event, the layer of a process appends a line NAME=VALUE to a file, in one write. Lines with other names are
 * ignored, because the layer may be newer than the tool.
 */

/* "several" is not a count: whether there were several processes. */
static const char stats_pattern[] = "[processes!ingot run: no process built OpenCL programs through the layer\n]"
                                    "[processes?ingot run: {programs|0} programs in {processes} process[several?es]\n"
                                    "  loaded          {hits|0}\n"
                                    "  compiled        {builds|0}[builds?, which took {build_ns:duration|0 ns}]\n"
                                    "  passed through  {passed|0}, of which {failed|0} failed\n"
                                    "[left?                  {left} were left to the driver's own cache, because their "
                                    "device generates code at launch: --now stores them, or \"--record DIR\" and then "
                                    "\"ingot build DIR\"\n]"
                                    "  stored          {stored|0}\n"
                                    "  refused         {refused|0}\n"
                                    "  awaited         {awaited|0}, and {wait_timeouts|0} times too long\n]";

/* Creates a file to which the layer appends its counts. */
static char *begin_stats(void)
{
    const char *const directories[] = {getenv("TMPDIR"), "/tmp", "/dev/shm"};
    for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); ++i) {
        if (directories[i] == NULL || directories[i][0] != '/')
            continue;
        char *path = text_append(memory_copy_text(directories[i]), "/", "ingot-run-XXXXXX");
        const int fd = mkstemp(path);
        if (fd >= 0 && close(fd) == 0 && setenv("INGOT_LAYER_STATS", path, 1) == 0)
            return path;
        free(path);
    }
    (void)fprintf(stderr, "ingot run: nothing is counted: no file can be created in TMPDIR, /tmp or /dev/shm: %s\n",
                  strerror(errno));
    return NULL;
}

/* Prints the sums, and removes the file. */
static void end_stats(const char *path)
{
    cJSON *counts = cJSON_CreateObject();
    char *line = NULL;
    size_t capacity = 0;
    FILE *file = fopen(path, "re");
    while (file != NULL && getline(&line, &capacity, file) > 0) {
        char *value = strchr(line, '=');
        uint64_t number = 0;
        if (value == NULL)
            continue;
        *value++ = '\0';
        value[strcspn(value, "\n")] = '\0';
        if (!quantity_read_count(value, &number))
            continue;
        const double sum = (double)(json_get_u64(counts, line) + number);
        cJSON_DeleteItemFromObjectCaseSensitive(counts, line);
        (void)cJSON_AddNumberToObject(counts, line, sum);
    }
    free(line);
    if (file != NULL)
        (void)fclose(file);
    (void)unlink(path);
    cJSON_DeleteItemFromObjectCaseSensitive(counts, "several"); /* whatever the layer calls a count */
    (void)cJSON_AddBoolToObject(counts, "several", json_get_u64(counts, "processes") > 1);
    output_put(stderr, stats_pattern, counts);
    cJSON_Delete(counts);
}

/* Replaces this process with the command. If that fails, prints why and returns 127 (command not found) or 126. */
static int replace_process(char **command)
{
    (void)execvp(command[0], command);
    const int error = errno;
    (void)fprintf(stderr, "ingot run: %s: %s\n", command[0], strerror(error));
    return error == ENOENT ? NO_COMMAND : NOT_EXECUTABLE;
}

/* Executes the command in a child, forwards signals to the child, waits for its end, and prints on standard error what
 * the layer counted in all its processes. Ends as the child ended: returns its exit status, or raises the signal that
 * killed it. If nothing can be counted, says why and replaces this process, or returns EXIT_RUN_FAILED if `is_strict`.
 */
static int run_and_count(char **command, bool is_strict)
{
    static const int waited[] = {SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
    const struct rlimit no_core = {0, 0}; /* one core dump, the child's, is enough */
    siginfo_t info;
    sigset_t signals;
    sigset_t before;
    int status = 0;
    char *path = begin_stats();
    if (path == NULL)
        return is_strict ? EXIT_RUN_FAILED : replace_process(command);
    (void)sigemptyset(&signals);
    for (size_t i = 0; i < sizeof(waited) / sizeof(waited[0]); ++i)
        (void)sigaddset(&signals, waited[i]);
    (void)sigprocmask(SIG_BLOCK, &signals, &before);
    void (*inherited)(int) = signal(SIGCHLD, SIG_DFL); /* if it were ignored, the child's status would be lost */
    const pid_t child = fork();
    if (child == 0) {
        (void)signal(SIGCHLD, inherited);
        (void)sigprocmask(SIG_SETMASK, &before, NULL);
        _exit(replace_process(command));
    }
    if (child < 0)
        (void)fprintf(stderr, "ingot run: %s: no process: %s\n", command[0], strerror(errno));
    while (child > 0 && waitpid(child, &status, WNOHANG) == 0) {
        const int number = sigwaitinfo(&signals, &info);
        if (number > 0 && number != SIGCHLD && info.si_code <= 0) /* sent by a process */
            (void)kill(child, number);
    }
    end_stats(path);
    free(path);
    if (child < 0 || !WIFSIGNALED(status))
        return child < 0 ? EXIT_RUN_FAILED : WEXITSTATUS(status);
    (void)setrlimit(RLIMIT_CORE, &no_core);
    (void)signal(WTERMSIG(status), SIG_DFL);
    (void)raise(WTERMSIG(status)); /* a forwarded signal stays pending until it is unblocked */
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    return KILLED_BY + WTERMSIG(status);
}

/* ---- `ingot run` ---- */

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
    return running->has_stats ? run_and_count(running->command, running->is_strict) : replace_process(running->command);
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
