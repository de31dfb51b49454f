/*
 * run_stats.c - adds up what the OpenCL layer did in all processes of a command.
 *
 * For each event, the layer of a process appends a line NAME=VALUE to a file, in one write. Lines with other names are
 * ignored, because the layer may be newer than the tool.
 */
#include "cli/commands/run/run_stats.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/json.h"
#include "cli/base/memory.h"
#include "cli/base/output.h"
#include "cli/base/text.h"
#include "util/quantity.h"

/* "several" is not a count: whether there were several processes. */
static const char pattern[] = "[processes!ingot run: no process built OpenCL programs through the layer\n]"
                              "[processes?ingot run: {programs|0} programs in {processes} process[several?es]\n"
                              "  loaded          {hits|0}\n"
                              "  compiled        {builds|0}[builds?, which took {build_ns:duration|0 ns}]\n"
                              "  passed through  {passed|0}, of which {failed|0} failed\n"
                              "[left?                  {left} were left to the driver's own cache, because their "
                              "device generates code at launch: --now stores them, or \"--record FILE\" and then "
                              "\"ingot build FILE\"\n]"
                              "  stored          {stored|0}\n"
                              "  refused         {refused|0}\n"
                              "  awaited         {awaited|0}, and {wait_timeouts|0} times too long\n]";

char *run_stats_begin(void)
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

static void add_line_of_counts(char *line, cJSON *counts)
{
    char *value = strchr(line, '=');
    uint64_t number = 0;
    if (value == NULL)
        return;
    *value++ = '\0';
    value[strcspn(value, "\n")] = '\0';
    if (!quantity_read_count(value, &number))
        return;
    const double sum = (double)(json_get_u64(counts, line) + number);
    cJSON_DeleteItemFromObjectCaseSensitive(counts, line);
    (void)cJSON_AddNumberToObject(counts, line, sum);
}

/* Sets what the pattern asks for, whatever the layer calls a count. */
static void set_flag(cJSON *counts, const char *name, bool is_set)
{
    cJSON_DeleteItemFromObjectCaseSensitive(counts, name);
    (void)cJSON_AddBoolToObject(counts, name, is_set);
}

void run_stats_end(const char *path)
{
    cJSON *counts = cJSON_CreateObject();
    char *line = NULL;
    size_t capacity = 0;
    FILE *file = fopen(path, "re");
    while (file != NULL && getline(&line, &capacity, file) > 0)
        add_line_of_counts(line, counts);
    free(line);
    if (file != NULL)
        (void)fclose(file);
    (void)unlink(path);
    set_flag(counts, "several", json_get_u64(counts, "processes") > 1);
    output_put(stderr, pattern, counts);
    cJSON_Delete(counts);
}
