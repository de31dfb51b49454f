/*
 * prometheus.c - adds up and prints counters and gauges as Prometheus reads them; see prometheus.h.
 *
 * A process has a lock on its file in the directory (core/base/metrics.c). Whoever gets this lock knows that the
 * process has ended, and that it counts into another file if it has not. The counts of ended processes are added to the
 * file ENDED, which also names the files that it has taken: if this process dies before it has removed them, the next
 * one does not count them again. A lock on the directory keeps readers from counting while files are moved.
 */
#include "cli/commands/prometheus.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/base.h"

#define SUFFIX ".metrics"
#define UNFINISHED SUFFIX ".new" /* what a process writes before it replaces its file */
#define ENDED "ended" SUFFIX
#define TAKEN "# from "

#define MOST_COUNT 1e19 /* no counter has 2^64; anything may be in a file, and would stay in ENDED */

enum {
    MOST_TAKEN = 256, /* files at once, because they stay open */
    UNFINISHED_SECONDS = 60
};

static size_t name_size(const char *text)
{
    return strcspn(text, "{ ");
}

/* Orders lines by name, with a name's comments first, as Prometheus requires. */
static int by_name(const void *a, const void *b)
{
    const char *texts[] = {((const struct prometheus_line *)a)->text, ((const struct prometheus_line *)b)->text};
    const bool is_comment[] = {texts[0][0] == '#', texts[1][0] == '#'};
    const char *names[] = {texts[0] + (is_comment[0] ? 7 : 0), texts[1] + (is_comment[1] ? 7 : 0)}; /* "# HELP " */
    const size_t sizes[] = {name_size(names[0]), name_size(names[1])};
    const int order = strncmp(names[0], names[1], sizes[0] < sizes[1] ? sizes[0] : sizes[1]);
    if (order != 0 || sizes[0] != sizes[1])
        return order != 0 ? order : (sizes[0] > sizes[1]) - (sizes[0] < sizes[1]);
    return is_comment[0] != is_comment[1] ? (is_comment[0] ? -1 : 1) : strcmp(texts[0], texts[1]);
}

void prometheus_add(struct prometheus *all, const char *text, double value)
{
    size_t i = 0;
    while (i < all->count && strcmp(all->lines[i].text, text) != 0)
        ++i;
    if (i == all->count) {
        all->lines = memory_grow(all->lines, all->count, sizeof(*all->lines));
        all->lines[all->count++] = (struct prometheus_line){memory_copy_text(text), 0};
    }
    const double sum = all->lines[i].value + value;
    all->lines[i].value = sum < MOST_COUNT ? sum : MOST_COUNT;
}

void prometheus_print(FILE *stream, struct prometheus *all)
{
    if (all->count != 0)
        qsort(all->lines, all->count, sizeof(*all->lines), by_name);
    for (size_t i = 0; i < all->count; ++i) {
        const char *text = all->lines[i].text;
        if (text[0] == '#')
            (void)fprintf(stream, "%s\n", text);
        else
            (void)fprintf(stream, "%s %.*f\n", text, strstr(text, "_seconds") != NULL ? 9 : 0, all->lines[i].value);
    }
}

/* Adds a file's lines. Those that begin with TAKEN go to `taken`, unless it is NULL. */
static void add_lines(struct prometheus *all, FILE *stream, struct prometheus *taken)
{
    char line[1024];
    bool is_cut = false; /* the line is too long, and the next bytes are its rest */
    while (fgets(line, sizeof(line), stream) != NULL) {
        const bool is_rest = is_cut;
        is_cut = strchr(line, '\n') == NULL;
        if (is_rest || is_cut)
            continue;
        line[strcspn(line, "\n")] = '\0';
        char *value = strrchr(line, ' ');
        if (strncmp(line, TAKEN, strlen(TAKEN)) == 0) {
            if (taken != NULL)
                prometheus_add(taken, line + strlen(TAKEN), 0);
        } else if (strncmp(line, "# HELP ", 7) == 0 || strncmp(line, "# TYPE ", 7) == 0) {
            prometheus_add(all, line, 0);
        } else if (value != NULL && strncmp(line, "ingot_", 6) == 0) {
            *value = '\0';
            const double number = strtod(value + 1, NULL);
            prometheus_add(all, line, number >= 0 && number <= MOST_COUNT ? number : 0);
        }
    }
}

static int is_file_of_process(const struct dirent *entry)
{
    return (text_ends_in(entry->d_name, SUFFIX) && strcmp(entry->d_name, ENDED) != 0) ||
           text_ends_in(entry->d_name, UNFINISHED);
}

/* Adds a process's file to the counts of ended processes if that process has ended, and otherwise to the others. */
static void add_file(struct prometheus *all, struct prometheus *ended, struct prometheus *taken, int directory,
                     const char *name, bool prune)
{
    struct stat about = {.st_nlink = 0};
    bool has_ended = false;
    int fd = -1;
    do { /* again if the process has replaced the file meanwhile, which frees the lock of the old one */
        if (fd >= 0)
            (void)close(fd);
        fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        has_ended = fd >= 0 && prune && taken->count < MOST_TAKEN && flock(fd, LOCK_EX | LOCK_NB) == 0;
    } while (has_ended && fstat(fd, &about) == 0 && about.st_nlink == 0);
    FILE *stream = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (stream == NULL)
        return;
    /* The lock is kept until this process ends, so that its owner gets another. */
    has_ended = has_ended && fcntl(fd, F_DUPFD_CLOEXEC, 0) >= 0;
    add_lines(has_ended ? ended : all, stream, NULL);
    if (has_ended)
        prometheus_add(taken, name, 0);
    (void)fclose(stream);
}

/* Replaces the file of ended processes, and removes the files that it has taken. */
static bool write_ended(int directory, struct prometheus *ended, const struct prometheus *taken)
{
    const int fd = openat(directory, ENDED ".new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
    FILE *stream = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (stream == NULL)
        return false;
    prometheus_print(stream, ended);
    for (size_t i = 0; i < taken->count; ++i)
        (void)fprintf(stream, TAKEN "%s\n", taken->lines[i].text);
    const bool is_written = ferror(stream) == 0;
    if (fclose(stream) != 0 || !is_written || renameat(directory, ENDED ".new", directory, ENDED) != 0)
        return false;
    for (size_t i = 0; i < taken->count; ++i)
        (void)unlinkat(directory, taken->lines[i].text, 0);
    return true;
}

int prometheus_read(struct prometheus *all, const char *path, bool prune)
{
    static struct prometheus ended, before, taken; /* before: the files that ENDED has taken */
    struct dirent **entries = NULL;
    const int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool is_open = directory >= 0 && flock(directory, prune ? LOCK_EX : LOCK_SH) == 0;
    const int fd = is_open ? openat(directory, ENDED, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
    FILE *stream = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (stream != NULL) {
        add_lines(&ended, stream, &before);
        (void)fclose(stream);
    }
    const int count = is_open ? scandirat(directory, ".", &entries, is_file_of_process, NULL) : -1;
    for (int i = 0; i < count; ++i) {
        const char *name = entries[i]->d_name;
        size_t at = 0;
        while (at < before.count && strcmp(before.lines[at].text, name) != 0)
            ++at;
        if (text_ends_in(name, UNFINISHED)) {
            /* a process that was killed has left it, unless it is new */
            struct stat about;
            if (prune && fstatat(directory, name, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
                time(NULL) - about.st_mtime > UNFINISHED_SECONDS)
                (void)unlinkat(directory, name, 0);
        } else if (at == before.count)
            add_file(all, &ended, &taken, directory, name, prune);
        else if (prune && unlinkat(directory, name, 0) != 0)
            prometheus_add(&taken, name, 0); /* it stays there, and must not be counted again */
        free(entries[i]);
    }
    free(entries);
    const bool is_read = count >= 0 && (taken.count == 0 || write_ended(directory, &ended, &taken));
    if (!is_read)
        (void)fprintf(stderr, "ingot: the counts in %s cannot be read: %s\n", path, strerror(errno));
    if (directory >= 0)
        (void)close(directory);
    if (!is_read)
        return EXIT_FAILED;
    for (size_t i = 0; i < ended.count; ++i)
        prometheus_add(all, ended.lines[i].text, ended.lines[i].value);
    return EXIT_DONE;
}
