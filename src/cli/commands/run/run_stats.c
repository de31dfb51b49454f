/*
 * run_stats.c - adds up what the OpenCL layer did in all processes of a command.
 *
 * For each event, the layer of a process appends a line NAME=VALUE to a file, in one write. Lines with other names are
 * ignored, because the layer may be newer than the tool.
 */
#include "cli/commands/run/run_stats.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/memory.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "util/quantity.h"

enum count {
    PROCESSES,
    PROGRAMS,
    HITS,
    BUILDS,
    PASSED,
    FAILED,
    STORED,
    WAITING,
    REFUSED,
    SAVED_NS,
    BUILD_NS,
    AWAITED,
    WAIT_TIMEOUTS,
    COUNT_COUNT
};

static const char *const names[COUNT_COUNT] = {[PROCESSES] = "processes",
                                               [PROGRAMS] = "programs",
                                               [HITS] = "hits",
                                               [BUILDS] = "builds",
                                               [PASSED] = "passed",
                                               [FAILED] = "failed",
                                               [STORED] = "stored",
                                               [WAITING] = "waiting",
                                               [REFUSED] = "refused",
                                               [SAVED_NS] = "saved_ns",
                                               [BUILD_NS] = "build_ns",
                                               [AWAITED] = "awaited",
                                               [WAIT_TIMEOUTS] = "wait_timeouts"};

char *run_stats_begin(void)
{
    const char *directory = getenv("TMPDIR");
    if (directory == NULL || directory[0] != '/')
        directory = "/tmp";
    char *path = text_append(memory_copy_text(directory), "/", "ingot-run-XXXXXX");
    const int fd = mkstemp(path);
    if (fd >= 0 && close(fd) == 0 && setenv("INGOT_LAYER_STATS", path, 1) == 0)
        return path;
    (void)fprintf(stderr, "ingot run: creating a file for --stats in %s failed: %s\n", directory, strerror(errno));
    free(path);
    return NULL;
}

static void add_line_of_counts(char *line, uint64_t counts[COUNT_COUNT])
{
    char *value = strchr(line, '=');
    uint64_t number = 0;
    if (value == NULL)
        return;
    *value++ = '\0';
    value[strcspn(value, "\n")] = '\0';
    if (!quantity_read_count(value, &number))
        return;
    for (size_t i = 0; i < COUNT_COUNT; ++i) {
        if (strcmp(line, names[i]) == 0)
            counts[i] += number;
    }
}

static void print_timed(const char *name, uint64_t count, const char *did, uint64_t duration_ns)
{
    char text[UNITS_TEXT_SIZE];
    (void)fprintf(stderr, "  %-15s %" PRIu64, name, count);
    if (count != 0)
        (void)fprintf(stderr, ", which %s %s", did, units_duration(duration_ns, text));
    (void)fputc('\n', stderr);
}

static void print_run_counts(const uint64_t counts[COUNT_COUNT], bool is_storing_later)
{
    const uint64_t process_count = counts[PROCESSES];
    if (process_count == 0) {
        (void)fputs("ingot run: no process built OpenCL programs through the layer\n", stderr);
        return;
    }
    (void)fprintf(stderr, "ingot run: %" PRIu64 " programs in %" PRIu64 " process%s\n", counts[PROGRAMS], process_count,
                  process_count != 1 ? "es" : "");
    print_timed("loaded", counts[HITS], "saved", counts[SAVED_NS]);
    print_timed("compiled", counts[BUILDS], "took", counts[BUILD_NS]);
    (void)fprintf(stderr, "  %-15s %" PRIu64 ", of which %" PRIu64 " failed\n", "passed through", counts[PASSED],
                  counts[FAILED]);
    (void)fprintf(stderr, "  %-15s %" PRIu64 "\n", "stored", counts[STORED]);
    if (counts[WAITING] != 0)
        (void)fprintf(stderr, "  %-15s %" PRIu64 "\n", is_storing_later ? "to be stored" : "not stored",
                      counts[WAITING]);
    (void)fprintf(stderr, "  %-15s %" PRIu64 "\n", "refused", counts[REFUSED]);
    (void)fprintf(stderr, "  %-15s %" PRIu64 ", and %" PRIu64 " times too long\n", "awaited", counts[AWAITED],
                  counts[WAIT_TIMEOUTS]);
}

void run_stats_end(const char *path, bool is_storing_later)
{
    uint64_t counts[COUNT_COUNT] = {0};
    char *line = NULL;
    size_t capacity = 0;
    FILE *file = fopen(path, "re");
    while (file != NULL && getline(&line, &capacity, file) > 0)
        add_line_of_counts(line, counts);
    free(line);
    if (file != NULL)
        (void)fclose(file);
    (void)unlink(path);
    print_run_counts(counts, is_storing_later);
}
