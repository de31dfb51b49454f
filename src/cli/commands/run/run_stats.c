/*
 * run_stats.c - executes a command in a child, and adds up what the OpenCL layer did in all its processes.
 *
 * While the child runs, this process only waits for signals, which are blocked from before the fork. Those that another
 * process sends to this process alone are forwarded; the terminal's reach the child directly. If a process sends a
 * signal to the whole process group, the child gets it twice: this process cannot tell it from a signal for this
 * process alone, which must not be lost.
 *
 * For each event, the layer of a process appends a line NAME=VALUE to a file, in one write. Lines with other names are
 * ignored, because the layer may be newer than the tool.
 */
#include "cli/commands/run/run.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/json.h"
#include "cli/base/memory.h"
#include "cli/base/options.h"
#include "cli/base/output.h"
#include "cli/base/text.h"
#include "util/quantity.h"

enum { NOT_EXECUTABLE = 126, NO_COMMAND = 127, KILLED_BY = 128 };

/* "several" is not a count: whether there were several processes. */
static const char pattern[] = "[processes!ingot run: no process built OpenCL programs through the layer\n]"
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
    output_put(stderr, pattern, counts);
    cJSON_Delete(counts);
}

int run_replace_process(char **command)
{
    (void)execvp(command[0], command);
    const int error = errno;
    (void)fprintf(stderr, "ingot run: %s: %s\n", command[0], strerror(error));
    return error == ENOENT ? NO_COMMAND : NOT_EXECUTABLE;
}

int run_and_count(char **command, bool is_strict)
{
    static const int waited[] = {SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
    const struct rlimit no_core = {0, 0}; /* one core dump, the child's, is enough */
    siginfo_t info;
    sigset_t signals;
    sigset_t before;
    int status = 0;
    char *path = begin_stats();
    if (path == NULL)
        return is_strict ? EXIT_RUN_FAILED : run_replace_process(command);
    (void)sigemptyset(&signals);
    for (size_t i = 0; i < sizeof(waited) / sizeof(waited[0]); ++i)
        (void)sigaddset(&signals, waited[i]);
    (void)sigprocmask(SIG_BLOCK, &signals, &before);
    void (*inherited)(int) = signal(SIGCHLD, SIG_DFL); /* if it were ignored, the child's status would be lost */
    const pid_t child = fork();
    if (child == 0) {
        (void)signal(SIGCHLD, inherited);
        (void)sigprocmask(SIG_SETMASK, &before, NULL);
        _exit(run_replace_process(command));
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
