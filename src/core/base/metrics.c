/*
 * metrics.c - counts what this process does, in a file of the directory that INGOT_METRICS_DIR names; see metrics.h.
 *
 * The file is written beside its name and renamed. While the process may change it, it has a lock (flock) on it, which
 * the kernel releases when the process dies: whoever gets the lock, `ingot stats --prune`, may take the file's counts
 * and remove it. A process that has lost its file, because the application closed the descriptor, therefore goes on
 * with a new file, which has only what the old one lacked.
 *
 * Two locks: file_lock is held while the file is written, and table_lock, which is taken second, while counts are read
 * or changed. A forked child begins with no counts, no sources and no file.
 */
#include "core/base/metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "util/kept_file.h"
#include "util/nanoseconds.h"
#include "util/process_number.h"
#include "util/write_signals.h"

enum { LABELS = 3, LABEL_CAPACITY = 32, MOST_SERIES = 192, FEW_SERIES = 128, SERIES_TEXT = 256 };
#define PAUSE_NS (10 * NS_PER_SECOND)

static const struct {
    const char *name;
    const char *labels[LABELS];
    bool is_time; /* counts nanoseconds, which the file has in seconds */
    const char *help;
} metrics[INGOT_METRIC_COUNT] = {
    {"ingot_requests_total", {"origin", "backend", "kind"}, false, "Programs and artifacts, by where they came from"},
    {"ingot_compile_seconds_total", {"backend", "kind"}, true, "Time of compiling"},
    {"ingot_load_seconds_total", {"backend", "kind"}, true, "Time of asking storages and of loading"},
    {"ingot_saved_seconds_total", {"backend", "kind"}, true, "Time that compiling what was loaded had taken"},
    {"ingot_evicted_bytes_total", {"reason"}, false, "Bytes evicted from memory and from stores"},
    {"ingot_refused_total", {"reason"}, false, "What could not be cached, stored or used"},
    {"ingot_remote_requests_total", {"tier", "result"}, false, "Requests to servers"},
    {"ingot_remote_lost_seconds_total", {NULL}, true, "Time lost to failing and slow servers"},
};

struct series {
    ingot_metric_t metric;
    char labels[LABELS][LABEL_CAPACITY];
    uint64_t value;
    uint64_t printed; /* the value when the file's text was made */
    uint64_t written; /* the value in the file */
};

static pthread_mutex_t file_lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept_file file = KEPT_FILE_INIT; /* file_lock guards this and the next five */
static char directory[PATH_MAX];               /* absolute; "": none yet */
static char path[PATH_MAX + 64];               /* of the file; "": none yet */
static char beside[PATH_MAX + 80];
static char text[MOST_SERIES * SERIES_TEXT];
static bool has_complained;

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct series table[MOST_SERIES]; /* table_lock guards this and the next two */
static size_t series_count;
static struct metrics_source *sources;
static atomic_bool is_on;             /* there are sources; relaxed */
static _Atomic uint64_t next_time_ns; /* when a request writes the file next; relaxed */

/* ---- counts; the caller holds table_lock ---- */

static void copy_label(char label[LABEL_CAPACITY], const char *given)
{
    size_t i = 0;
    for (; given != NULL && given[i] != '\0' && i + 1 < LABEL_CAPACITY; ++i) {
        const char c = given[i];
        const bool is_plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '.' ||
                              c == '_' || c == '-';
        label[i] = (char)(is_plain ? c : '_');
    }
    memset(label + i, 0, LABEL_CAPACITY - i);
}

/* An application chooses the kinds of its artifacts, which are backends here. When there are many, new ones become one.
 */
static void add(ingot_metric_t metric, const char *first, const char *second, const char *third, uint64_t amount)
{
    struct series wanted = {.metric = metric};
    copy_label(wanted.labels[0], first);
    copy_label(wanted.labels[1], second);
    copy_label(wanted.labels[2], third);
    for (size_t i = 0; i < series_count; ++i) {
        if (table[i].metric == metric && memcmp(table[i].labels, wanted.labels, sizeof(wanted.labels)) == 0) {
            table[i].value += amount;
            return;
        }
    }
    const int backend = metric == INGOT_METRIC_REQUESTS; /* which label it is */
    if (series_count >= FEW_SERIES && metric <= INGOT_METRIC_SAVED_NS && strcmp(wanted.labels[backend], "other") != 0) {
        add(metric, backend == 1 ? first : "other", backend == 1 ? "other" : second, third, amount);
    } else if (series_count < MOST_SERIES) {
        wanted.value = amount;
        table[series_count++] = wanted;
    }
}

static void add_hits(struct metrics_source *source)
{
    if (source->count_hits == NULL)
        return;
    const uint64_t hits = source->count_hits(source->user);
    if (hits != source->hits)
        add(INGOT_METRIC_REQUESTS, "memory", source->backend, "program", hits - source->hits);
    source->hits = hits;
}

/* Writes the text of all counts. Returns its size; 0: the file has them all. */
static size_t print_series(void)
{
    bool is_new = false;
    size_t size = 0;
    for (int metric = 0; metric < INGOT_METRIC_COUNT; ++metric) {
        bool has_head = false;
        for (size_t i = 0; i < series_count; ++i) {
            struct series *series = &table[i];
            if ((int)series->metric != metric)
                continue;
            const char *name = metrics[metric].name;
            if (!has_head)
                size += (size_t)sprintf(text + size, "# HELP %s %s.\n# TYPE %s counter\n", name, metrics[metric].help,
                                        name);
            has_head = true;
            size += (size_t)sprintf(text + size, "%s", name);
            for (size_t k = 0; k < LABELS && metrics[metric].labels[k] != NULL; ++k)
                size += (size_t)sprintf(text + size, "%s%s=\"%s\"", k == 0 ? "{" : ",", metrics[metric].labels[k],
                                        series->labels[k]);
            size += (size_t)sprintf(text + size, metrics[metric].labels[0] != NULL ? "} " : " ");
            size += metrics[metric].is_time
                        ? (size_t)sprintf(text + size, "%" PRIu64 ".%09" PRIu64 "\n", series->value / NS_PER_SECOND,
                                          series->value % NS_PER_SECOND)
                        : (size_t)sprintf(text + size, "%" PRIu64 "\n", series->value);
            is_new = is_new || series->value != series->written;
            series->printed = series->value;
        }
    }
    return is_new ? size : 0;
}

/* ---- the file; the caller holds file_lock ---- */

/* Makes sure that the file of `path` is this process's: it is open, or it is opened again. If others have taken its
 * counts, there is a new path. */
static void own_file(void)
{
    struct stat about;
    if (kept_file_is_open(&file))
        return;
    file.fd = -1;
    const int fd = path[0] != '\0' ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &about) == 0 && about.st_nlink != 0) {
        (void)kept_file_begin(&file, fd);
        return;
    }
    if (fd >= 0)
        (void)close(fd);
    /* the counts of a file that is lost are out of the table, and a new file has a new name */
    pthread_mutex_lock(&table_lock);
    for (size_t i = 0; i < series_count; ++i) {
        table[i].value -= table[i].written;
        table[i].written = 0;
    }
    pthread_mutex_unlock(&table_lock);
    (void)snprintf(path, sizeof(path), "%s/%ld-%" PRIu64 ".metrics", directory, (long)getpid(),
                   nanoseconds_of(CLOCK_REALTIME));
}

/* Replaces the file. Returns 0 or an errno. */
static int replace_file(size_t size)
{
    (void)snprintf(beside, sizeof(beside), "%s.new", path);
    (void)unlink(beside);
    const int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0)
        return errno;
    errno = EIO;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 || write(fd, text, size) != (ssize_t)size || rename(beside, path) != 0) {
        const int error = errno;
        (void)unlink(beside);
        (void)close(fd);
        return error;
    }
    kept_file_end(&file);
    return -kept_file_begin(&file, fd);
}

/* Writes the file if it lacks counts. */
static void write_counts(void)
{
    own_file();
    pthread_mutex_lock(&table_lock);
    for (struct metrics_source *source = sources; source != NULL; source = source->next)
        add_hits(source);
    const size_t size = print_series();
    pthread_mutex_unlock(&table_lock);
    if (size == 0)
        return;
    const struct write_signals held = write_signals_hold();
    const int error = replace_file(size);
    write_signals_allow(&held);
    if (error != 0) {
        if (!has_complained)
            fprintf(stderr, "ingot: INGOT_METRICS_DIR: a file in %s cannot be written: %s\n", directory,
                    strerror(error));
        has_complained = true;
        return;
    }
    pthread_mutex_lock(&table_lock);
    for (size_t i = 0; i < series_count; ++i)
        table[i].written = table[i].printed;
    pthread_mutex_unlock(&table_lock);
}

void metrics_write(void)
{
    atomic_store_explicit(&next_time_ns, nanoseconds_of(CLOCK_MONOTONIC_COARSE) + PAUSE_NS, memory_order_relaxed);
    pthread_mutex_lock(&file_lock);
    write_counts();
    pthread_mutex_unlock(&file_lock);
}

/* ---- sources ---- */

static void forget_parent_counts(void)
{
    (void)pthread_mutex_init(&file_lock, NULL);
    (void)pthread_mutex_init(&table_lock, NULL);
    kept_file_end(&file); /* the parent has its lock as long as the parent has it open */
    path[0] = '\0';
    series_count = 0;
    sources = NULL;
    atomic_store_explicit(&is_on, false, memory_order_relaxed);
    atomic_store_explicit(&next_time_ns, 0, memory_order_relaxed);
}

static void watch_forks_for_metrics(void)
{
    (void)pthread_atfork(NULL, NULL, forget_parent_counts);
}

bool metrics_begin(struct metrics_source *source)
{
    static pthread_once_t watched = PTHREAD_ONCE_INIT;
    const char *given = secure_getenv("INGOT_METRICS_DIR");
    if (given == NULL || *given == '\0')
        return false;
    (void)pthread_once(&watched, watch_forks_for_metrics);
    pthread_mutex_lock(&file_lock);
    pthread_mutex_lock(&table_lock);
    if (sources == NULL) {
        if (realpath(given, beside) == NULL)
            (void)snprintf(beside, PATH_MAX, "%s", given); /* writing tells what is wrong */
        /* another directory than before gets a file that begins with nothing */
        if (strcmp(directory, beside) != 0) {
            memcpy(directory, beside, PATH_MAX);
            path[0] = '\0';
            series_count = 0;
            atomic_store_explicit(&next_time_ns, 0, memory_order_relaxed);
        }
    }
    source->process = process_number();
    source->next = sources;
    sources = source;
    atomic_store_explicit(&is_on, true, memory_order_relaxed);
    pthread_mutex_unlock(&table_lock);
    pthread_mutex_unlock(&file_lock);
    return true;
}

void metrics_end(struct metrics_source *source)
{
    if (source->process == 0 || source->process != process_number())
        return;
    pthread_mutex_lock(&file_lock);
    pthread_mutex_lock(&table_lock);
    struct metrics_source **link = &sources;
    while (*link != source)
        link = &(*link)->next;
    add_hits(source);
    *link = source->next;
    source->process = 0;
    const bool is_last = sources == NULL;
    atomic_store_explicit(&is_on, !is_last, memory_order_relaxed);
    pthread_mutex_unlock(&table_lock);
    if (is_last) {
        write_counts();
        kept_file_end(&file);
    }
    pthread_mutex_unlock(&file_lock);
}

/* ---- counting ---- */

bool metrics_are_on(void)
{
    return atomic_load_explicit(&is_on, memory_order_relaxed);
}

void ingot_metrics_add(ingot_metric_t metric, const char *first, const char *second, const char *third, uint64_t amount)
{
    if (!metrics_are_on() || (int)metric >= INGOT_METRIC_COUNT)
        return;
    pthread_mutex_lock(&table_lock);
    add(metric, first, second, third, amount);
    pthread_mutex_unlock(&table_lock);
    /* one of the threads that notice the time writes the file */
    const uint64_t now_ns = nanoseconds_of(CLOCK_MONOTONIC_COARSE);
    uint64_t next_ns = atomic_load_explicit(&next_time_ns, memory_order_relaxed);
    if (now_ns >= next_ns && atomic_compare_exchange_strong_explicit(&next_time_ns, &next_ns, now_ns + PAUSE_NS,
                                                                     memory_order_relaxed, memory_order_relaxed))
        metrics_write();
}

static void count_refusal(const char *reason)
{
    ingot_metrics_add(INGOT_METRIC_REFUSED, reason, NULL, NULL, 1);
}

static void count_request(const char *origin, const char *backend)
{
    ingot_metrics_add(INGOT_METRIC_REQUESTS, origin, backend, "program", 1);
}

void metrics_count_event(const char *backend, const ingot_event_t *event)
{
    const bool is_good = event->status == INGOT_SUCCESS;
    switch (event->kind) {
    case INGOT_EVENT_WAIT:
        if (is_good)
            count_request("memory", backend);
        break;
    case INGOT_EVENT_BUILD:
        ingot_metrics_add(INGOT_METRIC_COMPILE_NS, backend, "program", NULL, event->duration_ns);
        count_request(is_good ? "build" : "failed", backend);
        break;
    case INGOT_EVENT_LOAD:
    case INGOT_EVENT_STORAGE_LOAD:
        ingot_metrics_add(INGOT_METRIC_LOAD_NS, backend, "program", NULL, event->duration_ns);
        if (event->kind == INGOT_EVENT_LOAD && is_good)
            count_request("storage", backend);
        else if (!is_good && event->status != INGOT_NOT_FOUND)
            count_refusal(ingot_status_name(event->status));
        break;
    case INGOT_EVENT_STORAGE_STORE:
        if (!is_good)
            count_refusal(ingot_status_name(event->status));
        break;
    case INGOT_EVENT_EVICT:
    case INGOT_EVENT_STORAGE_EVICT:
        ingot_metrics_add(INGOT_METRIC_EVICTED_BYTES, event->kind == INGOT_EVENT_EVICT ? event->reason : "store", NULL,
                          NULL, event->bytes);
        break;
    case INGOT_EVENT_NATIVE_BUILD: count_refusal("native_build"); break;
    case INGOT_EVENT_NO_ID: count_refusal("no_id"); break;
    case INGOT_EVENT_PASSED_THROUGH: count_refusal("passed_through"); break;
    default: break;
    }
}
