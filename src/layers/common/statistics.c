/*
 * statistics.c - counts what the layer did, for `ingot run --stats`.
 *
 * Each event is appended in one write, so killed processes are counted, and a command and its children can share a
 * file. Readers add up lines with equal names. The store's counts are appended when the process exits. The layer
 * opens the file for each event, because an application may close all of its files. If the file has been removed, it
 * is not created again, because nobody will read it. Neither a pipe without a reader nor a limit of file sizes stops
 * the application.
 */
#include "layers/common/statistics.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "layers/common/settings.h"
#include "util/nanoseconds.h"
#include "util/write_signals.h"

#define LINE_ROOM 48u

static const char *const names[STATISTIC_COUNT] = {
    [STATISTIC_PROGRAMS] = "programs", [STATISTIC_HITS] = "hits",     [STATISTIC_BUILDS] = "builds",
    [STATISTIC_PASSED] = "passed",     [STATISTIC_FAILED] = "failed", [STATISTIC_SAVED_NS] = "saved_ns",
    [STATISTIC_BUILD_NS] = "build_ns"};
static char *path;            /* NULL: the user wants no statistics; set once */
static _Atomic pid_t counted; /* the process that has been added to the count of processes */
static atomic_bool was_opened;
static atomic_bool was_reported;

static void append_lines(const char *lines)
{
    const size_t size = strlen(lines);
    const bool is_there = atomic_load_explicit(&was_opened, memory_order_acquire);
    const struct write_signals held = write_signals_hold();
    const int file =
        open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (is_there ? 0 : O_CREAT), 0600);
    const bool is_removed = file < 0 && errno == ENOENT && is_there;
    const bool is_written = file >= 0 && write(file, lines, size) == (ssize_t)size;
    write_signals_allow(&held);
    if (file >= 0) {
        atomic_store_explicit(&was_opened, true, memory_order_release);
        (void)close(file);
    }
    if (!is_written && !is_removed && !atomic_exchange_explicit(&was_reported, true, memory_order_relaxed))
        fprintf(stderr, "ingot: INGOT_LAYER_STATS: %s could not be written\n", path);
}

bool statistics_are_wanted(void)
{
    return path != NULL;
}

void statistics_add(enum statistic statistic, uint64_t amount)
{
    char lines[2 * LINE_ROOM];
    if (path == NULL || amount == 0)
        return;
    const pid_t process = getpid();
    const bool is_first = atomic_exchange_explicit(&counted, process, memory_order_relaxed) != process;
    (void)snprintf(lines, sizeof(lines), "%s%s=%llu\n", is_first ? "processes=1\n" : "", names[statistic],
                   (unsigned long long)amount);
    append_lines(lines);
}

void statistics_add_loaded(const_ingot_program_t program, uint64_t duration_ns)
{
    ingot_program_facts_t facts = INGOT_PROGRAM_FACTS_INIT;
    (void)ingot_program_get_facts(program, &facts);
    if (!facts.is_from_cache_blob)
        return;
    statistics_add(STATISTIC_HITS, 1);
    if (facts.build_time_ns > duration_ns)
        statistics_add(STATISTIC_SAVED_NS, facts.build_time_ns - duration_ns);
}

uint64_t statistics_clock_ns(void)
{
    return nanoseconds_of(CLOCK_MONOTONIC);
}

static void append_store_statistics(void)
{
    char lines[5 * LINE_ROOM];
    ingot_persist_stats_t stored = INGOT_PERSIST_STATS_INIT;
    ingot_storage_t store = settings_store();
    if (store == NULL || atomic_load_explicit(&counted, memory_order_relaxed) != getpid() ||
        ingot_persist_get_stats(store, &stored) != INGOT_SUCCESS)
        return;
    (void)snprintf(lines, sizeof(lines), "stored=%llu\nwaiting=%llu\nrefused=%llu\nawaited=%llu\nwait_timeouts=%llu\n",
                   (unsigned long long)stored.stores, (unsigned long long)stored.waiting,
                   (unsigned long long)(stored.refused + stored.rejected), (unsigned long long)stored.awaited,
                   (unsigned long long)stored.wait_timeouts);
    append_lines(lines);
}

/* Returns the absolute path, because the application may change its directory. The caller frees it. */
static char *make_absolute(const char *wanted)
{
    char *directory = *wanted != '/' ? getcwd(NULL, 0) : NULL;
    char *absolute = NULL;
    if (directory == NULL || asprintf(&absolute, "%s/%s", directory, wanted) < 0)
        absolute = strdup(wanted);
    free(directory);
    return absolute;
}

void statistics_init(void)
{
    const char *wanted = secure_getenv("INGOT_LAYER_STATS");
    if (wanted == NULL || *wanted == '\0')
        return;
    path = make_absolute(wanted);
    (void)atexit(
        append_store_statistics); /* runs after persist's handler, which is registered later and stores programs */
}
