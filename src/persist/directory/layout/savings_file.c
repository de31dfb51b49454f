/*
 * savings_file.c - reads saved.txt and adds to it; see savings_file.h and doc/store-format.md.
 *
 * The file has its own lock, so that counting never delays the storing of a blob. One write replaces the file's whole
 * content. A file whose content does not have the right form counts as missing. Only the last line is optional, because
 * older versions do not write it.
 */
#include "persist/directory/layout/savings_file.h"

#include <errno.h>
#include <string.h>

#include "persist/base/files.h"
#include "persist/directory/layout/account.h"

#define NAME "saved.txt"
#define LINE_SIZE 21u
#define OLD_FILE_SIZE ((size_t)3 * LINE_SIZE)
#define FILE_SIZE ((size_t)4 * LINE_SIZE)
#define LOCK_PAUSE_NS UINT64_C(1000000)
#define SHORT_NS UINT64_C(30000000000)
#define DECAY 64u

static void write_line(char *line, uint64_t number)
{
    char digits[PATH_CAPACITY];
    memset(line, ' ', LINE_SIZE);
    line[LINE_SIZE - 1] = '\n';
    paths_number(digits, number);
    memcpy(line, digits, strlen(digits));
}

static bool read_counts(int fd, struct savings_counts *counts)
{
    char text[FILE_SIZE];
    size_t size = 0;
    *counts = (struct savings_counts){0, 0, 0, 0};
    if (files_read(fd, 0, sizeof(text), text, &size) < 0 || (size != sizeof(text) && size != OLD_FILE_SIZE))
        return false;
    struct savings_counts read = {0, 0, 0, 0};
    if (!account_parse(LINE_SIZE, text, &read.hits) || !account_parse(LINE_SIZE, text + LINE_SIZE, &read.builds) ||
        !account_parse(LINE_SIZE, text + (size_t)2 * LINE_SIZE, &read.saved_ns) ||
        (size == sizeof(text) && !account_parse(LINE_SIZE, text + OLD_FILE_SIZE, &read.longest_ns)))
        return false;
    *counts = read;
    return true;
}

static uint64_t sum(uint64_t a, uint64_t b)
{
    return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

/* Returns the new value of the longest build time after a build that took more_ns (0: there was no build). One build at
 * most doubles the value, because the process may merely have been stopped during the build. For this limit, a value
 * below SHORT_NS counts as SHORT_NS. A shorter build lowers the value by at most a 64th, so that a wrong value does not
 * last. */
static uint64_t longest_after(uint64_t longest_ns, uint64_t more_ns)
{
    const uint64_t base_ns = longest_ns > SHORT_NS ? longest_ns : SHORT_NS;
    const uint64_t most_ns = sum(base_ns, base_ns);
    const uint64_t decayed_ns = longest_ns - longest_ns / DECAY;
    if (more_ns == 0)
        return longest_ns;
    more_ns = more_ns < most_ns ? more_ns : most_ns;
    return more_ns > decayed_ns ? more_ns : decayed_ns;
}

/* Adds to the counts in the file. Requires the file's lock. */
static bool add(int fd, uint64_t size_bytes, const struct savings_counts *more)
{
    char text[FILE_SIZE];
    struct savings_counts counts;
    (void)read_counts(fd, &counts);
    write_line(text, sum(counts.hits, more->hits));
    write_line(text + LINE_SIZE, sum(counts.builds, more->builds));
    write_line(text + (size_t)2 * LINE_SIZE, sum(counts.saved_ns, more->saved_ns));
    write_line(text + OLD_FILE_SIZE, longest_after(counts.longest_ns, more->longest_ns));
    if (!files_may_grow_to(FILE_SIZE) || files_write_at(fd, 0, sizeof(text), text) < 0)
        return false;
    if (size_bytes > FILE_SIZE)
        (void)files_truncate(fd, FILE_SIZE);
    return true;
}

static bool lock(int fd, uint64_t deadline_ns)
{
    int result = files_try_lock_whole(fd);
    while (result == -EAGAIN && files_steady_clock_ns() < deadline_ns) { /* other errors do not pass with time */
        files_pause_ns(LOCK_PAUSE_NS);
        result = files_try_lock_whole(fd);
    }
    return result >= 0;
}

bool savings_file_add(const struct directory *directory, const struct savings_counts *more)
{
    char path[PATH_CAPACITY];
    struct file_facts facts;
    account_path(path, directory->name_space, NAME);
    const int fd = files_open_update(directory->root.fd, path);
    if (fd < 0)
        return false; /* before the first blob is stored, a namespace has no directory */
    bool is_added = files_facts(fd, &facts) == 0 && facts.is_file && files_are_private(&facts, directory->owner);
    is_added = is_added && lock(fd, account_deadline(directory));
    if (is_added) {
        is_added = add(fd, facts.size_bytes, more);
        (void)files_unlock_whole(fd); /* closing alone does not unlock the file while a forked child has it open */
    }
    (void)files_close(fd);
    return is_added;
}

bool savings_file_read(const struct directory *directory, const char *name_space, struct savings_counts *counts)
{
    char path[PATH_CAPACITY];
    *counts = (struct savings_counts){0, 0, 0, 0};
    account_path(path, name_space, NAME);
    const int fd = files_open_read(directory->root.fd, path);
    if (fd < 0)
        return false;
    const bool is_read = read_counts(fd, counts);
    (void)files_close(fd);
    return is_read;
}
