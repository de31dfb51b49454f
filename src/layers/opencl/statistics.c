/*
 * statistics.c - what the layer did, for `ingot run --stats`.
 *
 * Each process appends its lines in one write, so a command and its children can share a file, and a reader adds up
 * equal names. A forked child begins with zeros.
 */
#include "layers/opencl/statistics.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "layers/opencl/settings.h"

static _Atomic uint64_t counts[STATISTIC_COUNT];

void statistics_add(enum statistic statistic, uint64_t amount)
{
    (void)atomic_fetch_add_explicit(&counts[statistic], amount, memory_order_relaxed);
}

void statistics_add_program(const_ingot_program_t program, uint64_t duration_ns)
{
    uint64_t build_ns = 0;
    if (!ingot_program_is_from_cache_blob(program)) {
        statistics_add(STATISTIC_BUILDS, 1);
        statistics_add(STATISTIC_BUILD_NS, duration_ns);
        return;
    }
    statistics_add(STATISTIC_HITS, 1);
    if (ingot_program_get_build_time(program, &build_ns) == INGOT_SUCCESS && build_ns > duration_ns)
        statistics_add(STATISTIC_SAVED_NS, build_ns - duration_ns);
}

static unsigned long long count_of(enum statistic statistic)
{
    return atomic_load_explicit(&counts[statistic], memory_order_relaxed);
}

uint64_t statistics_clock_ns(void)
{
    struct timespec now = {0, 0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void forget(void)
{
    for (int i = 0; i < STATISTIC_COUNT; ++i)
        atomic_store_explicit(&counts[i], 0, memory_order_relaxed);
}

static void report(void)
{
    char lines[512];
    ingot_persist_stats_t stored = INGOT_PERSIST_STATS_INIT;
    const char *path = secure_getenv("INGOT_LAYER_STATS");
    ingot_storage_t store = settings_open_store();
    if (path == NULL || *path == '\0' || count_of(STATISTIC_PROGRAMS) + count_of(STATISTIC_PASSED) == 0)
        return;
    if (store != NULL)
        (void)ingot_persist_get_stats(store, &stored);
    const int length =
        snprintf(lines, sizeof(lines),
                 "programs=%llu\nhits=%llu\nbuilds=%llu\npassed=%llu\nfailed=%llu\nstored=%llu\nrefused=%llu\n"
                 "saved_ns=%llu\nbuild_ns=%llu\n",
                 count_of(STATISTIC_PROGRAMS), count_of(STATISTIC_HITS), count_of(STATISTIC_BUILDS),
                 count_of(STATISTIC_PASSED), count_of(STATISTIC_FAILED), (unsigned long long)stored.stores,
                 (unsigned long long)(stored.refused + stored.rejected), count_of(STATISTIC_SAVED_NS),
                 count_of(STATISTIC_BUILD_NS));
    const int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0)
        return;
    if (length > 0 && write(file, lines, (size_t)length) != length)
        fprintf(stderr, "ingot: INGOT_LAYER_STATS: %s could not be written\n", path);
    (void)close(file);
}

void statistics_init(void)
{
    const char *path = secure_getenv("INGOT_LAYER_STATS");
    if (path == NULL || *path == '\0')
        return;
    (void)pthread_atfork(NULL, NULL, forget);
    (void)atexit(report); /* before persist's handler is registered, so it runs after that has stored */
}
