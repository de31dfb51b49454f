/*
 * statistics.c - counts what the layer did, for `ingot run --stats`.
 *
 * Each event is appended in one write, so killed processes are counted, and a command and its children can share a
 * file. Readers add up lines with equal names. What the store counted since the last time is appended after
 * each request, because nothing of the layer runs in exit(). The layer opens the file for each event, because an
 * application may close all of its files. If the file has been removed, it is not created again, because nobody will
 * read it. Neither a pipe without a reader nor a limit of file sizes stops the application.
 */
#include "layers/common/common.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "util/nanoseconds.h"
#include "util/write_signals.h"

#define LINE_ROOM 48u

static const char *const names[STATISTIC_COUNT] = {
    [STATISTIC_PROGRAMS] = "programs", [STATISTIC_HITS] = "hits",     [STATISTIC_BUILDS] = "builds",
    [STATISTIC_PASSED] = "passed",     [STATISTIC_FAILED] = "failed", [STATISTIC_LEFT] = "left",
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

void statistics_add_loaded(const_ingot_program_t program)
{
    ingot_program_facts_t facts = INGOT_PROGRAM_FACTS_INIT;
    (void)ingot_program_get_facts(program, &facts);
    if (facts.is_from_cache_blob)
        statistics_add(STATISTIC_HITS, 1);
}

void statistics_add_store(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards `added` */
    static ingot_persist_stats_t added;
    char lines[4 * LINE_ROOM];
    ingot_persist_stats_t now = INGOT_PERSIST_STATS_INIT;
    ingot_storage_t store = settings_store();
    if (path == NULL || store == NULL || ingot_persist_get_stats(store, &now) != INGOT_SUCCESS)
        return;
    pthread_mutex_lock(&lock);
    (void)ingot_persist_get_stats(store, &now); /* not older than what another thread has added */
    (void)snprintf(lines, sizeof(lines), "stored=%llu\nrefused=%llu\nawaited=%llu\nwait_timeouts=%llu\n",
                   (unsigned long long)(now.stores - added.stores),
                   (unsigned long long)(now.refused + now.rejected - added.refused - added.rejected),
                   (unsigned long long)(now.awaited - added.awaited),
                   (unsigned long long)(now.wait_timeouts - added.wait_timeouts));
    added = now;
    pthread_mutex_unlock(&lock);
    append_lines(lines);
}

void statistics_init(void)
{
    const char *wanted = secure_getenv("INGOT_LAYER_STATS");
    if (wanted == NULL || *wanted == '\0')
        return;
    /* the application may change its directory */
    char *directory = *wanted != '/' ? getcwd(NULL, 0) : NULL;
    char *absolute = NULL;
    if (directory == NULL || asprintf(&absolute, "%s/%s", directory, wanted) < 0)
        absolute = strdup(wanted);
    free(directory);
    path = absolute;
}
