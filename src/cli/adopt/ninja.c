/*
 * ninja.c - reads and changes ninja's logs; see ninja.h.
 *
 * .ninja_log is text: after a first line, each line has a start, an end, the output's time in nanoseconds, its name and
 * a hash of its command, separated by tabs. .ninja_deps is binary: after a magic and a version, each record has its
 * size, with the highest bit set if it lists the inputs of an output. Then it has the output's number, its time, and
 * the inputs' numbers. Otherwise, it has a path, which is padded with NULs to a multiple of four bytes, and a checksum.
 */
#include "cli/adopt/ninja.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/base/memory.h"
#include "util/little_endian.h"
#include "util/nanoseconds.h"
#include "util/xxh3/xxh3.h"

#define LOG_MAGIC "# ninja log v"
#define DEPS_MAGIC "# ninjadeps\n"
#define DEPS_BIT (UINT32_C(1) << 31)

enum { TIME_FIELD = 2, DEPS_VERSION = 4, DEPS_HEADER = 16, TIME_OFFSET = 4, LEAST_DEPS = 12 };

/* ---- .ninja_log ---- */

/* Finds the file time in a line of the log: *begin and *end are where its text starts and ends. Returns false if there
 * is none. */
static bool find_time(char *line, char **begin, char **end)
{
    for (int field = 0; line != NULL && field < TIME_FIELD; ++field) {
        line = strchr(line, '\t');
        line = line != NULL ? line + 1 : NULL;
    }
    if (line == NULL)
        return false;
    *begin = line;
    *end = strchr(line, '\t');
    return *end != NULL;
}

static char *copy_as_text(const struct adopt_content *content)
{
    char *text = memory_get(content->size + 1);
    memcpy(text, content->bytes, content->size);
    text[content->size] = '\0';
    return text;
}

bool ninja_set_log_times(struct adopt_content *log, uint64_t time_ns)
{
    char *text = copy_as_text(log);
    char *made = NULL;
    size_t size = 0;
    char *rest = NULL;
    bool is_known = strncmp(text, LOG_MAGIC, strlen(LOG_MAGIC)) == 0;
    FILE *stream = is_known ? open_memstream(&made, &size) : NULL;
    for (char *line = stream != NULL ? strtok_r(text, "\n", &rest) : NULL; line != NULL && is_known;
         line = strtok_r(NULL, "\n", &rest)) {
        char *begin = NULL;
        char *end = NULL;
        is_known = line[0] == '#' || find_time(line, &begin, &end);
        if (begin != NULL && end != NULL)
            (void)fprintf(stream, "%.*s%" PRIu64 "%s\n", (int)(begin - line), line, time_ns, end);
        else
            (void)fprintf(stream, "%s\n", line);
    }
    is_known = stream != NULL && fclose(stream) == 0 && is_known;
    free(text);
    if (!is_known) {
        free(made);
        return false;
    }
    free(log->bytes);
    log->bytes = (uint8_t *)made;
    log->size = size;
    return true;
}

uint64_t ninja_oldest_time(const struct adopt_content *log)
{
    uint64_t oldest_ns = 0;
    char *text = copy_as_text(log);
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        char *begin = NULL;
        char *end = NULL;
        const uint64_t time_ns = line[0] != '#' && find_time(line, &begin, &end) ? strtoull(begin, NULL, 10) : 0;
        if (time_ns != 0 && (oldest_ns == 0 || time_ns < oldest_ns))
            oldest_ns = time_ns;
    }
    free(text);
    return oldest_ns;
}

/* ---- .ninja_deps ---- */

typedef void (*record_found_t)(void *user, bool is_deps, size_t size, uint8_t *at);

/* Calls `found` for each record, without its size. Returns false if the format is another one. */
static bool walk_deps(const struct adopt_content *deps, record_found_t found, void *user)
{
    const size_t magic_size = strlen(DEPS_MAGIC);
    size_t at = DEPS_HEADER;
    if (deps->size < DEPS_HEADER || memcmp(deps->bytes, DEPS_MAGIC, magic_size) != 0 ||
        le_get_u32(deps->bytes + magic_size) != DEPS_VERSION)
        return false;
    while (at < deps->size) {
        if (deps->size - at < sizeof(uint32_t))
            return false;
        const uint32_t word = le_get_u32(deps->bytes + at);
        const size_t size = word & ~DEPS_BIT;
        at += sizeof(uint32_t);
        if (size > deps->size - at || size < sizeof(uint32_t) || ((word & DEPS_BIT) != 0 && size < LEAST_DEPS))
            return false;
        found(user, (word & DEPS_BIT) != 0, size, deps->bytes + at);
        at += size;
    }
    return true;
}

static void set_deps_record_time(void *user, bool is_deps, size_t size, uint8_t *at)
{
    (void)size;
    if (is_deps)
        le_put_u64(at + TIME_OFFSET, *(const uint64_t *)user);
}

bool ninja_set_deps_times(struct adopt_content *deps, uint64_t time_ns)
{
    return walk_deps(deps, set_deps_record_time, &time_ns);
}

struct reading {
    struct ninja_inputs *inputs;
    const char *directory;
    bool is_complete;
};

static uint64_t time_of(const struct timespec *time)
{
    return (uint64_t)time->tv_sec * NS_PER_SECOND + (uint64_t)time->tv_nsec;
}

/* Adds an input to the digest. The sum does not depend on the order in which ninja found the inputs. */
static void add_input(struct reading *reading, const char *path)
{
    struct adopt_content content;
    struct stat about;
    const size_t path_size = strlen(path);
    if (stat(path, &about) != 0 || !adopt_files_read_path(path, &content)) {
        reading->is_complete = false;
        return;
    }
    uint8_t *both = memory_get(path_size + 1 + content.size);
    memcpy(both, path, path_size + 1);
    memcpy(both + path_size + 1, content.bytes, content.size);
    const struct xxh3_words words = xxh3_128_of(path_size + 1 + content.size, both);
    reading->inputs->low += words.low;
    reading->inputs->high += words.high;
    if (time_of(&about.st_mtim) > reading->inputs->newest_ns)
        reading->inputs->newest_ns = time_of(&about.st_mtim);
    free(both);
    free(content.bytes);
}

static void read_ninja_input(void *user, bool is_deps, size_t size, uint8_t *at)
{
    struct reading *reading = user;
    if (is_deps)
        return;
    char *path = memory_get(size);
    memcpy(path, at, size - sizeof(uint32_t));
    path[size - sizeof(uint32_t)] = '\0';
    const size_t length = strlen(reading->directory);
    const bool is_below = strncmp(path, reading->directory, length) == 0 && path[length] == '/';
    if (path[0] == '/' && !is_below)
        add_input(reading, path);
    else if (strstr(path, "..") != NULL) /* an input outside, which cannot be found from here */
        reading->is_complete = false;
    free(path);
}

bool ninja_read_inputs(struct ninja_inputs *inputs, const struct adopt_content *deps, const char *directory)
{
    struct reading reading = {inputs, directory, true};
    *inputs = (struct ninja_inputs){0, 0, 0};
    return walk_deps(deps, read_ninja_input, &reading) && reading.is_complete;
}
