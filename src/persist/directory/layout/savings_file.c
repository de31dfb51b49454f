/*
 * savings_file.c - reads saved.txt and adds to it; see savings_file.h and doc/store-format.md.
 *
 * One write replaces the file's whole content, under the lock of size.txt. A file whose content does not have the right
 * form counts as missing. Only the last line is optional, because older versions do not write it.
 */
#include "persist/directory/layout/savings_file.h"

#include "persist/base/files.h"
#include "persist/directory/layout/account.h"

#define NAME "saved.txt"
#define LINES 4u
#define SHORT_NS UINT64_C(30000000000)
#define DECAY 64u

static bool read_counts(int fd, struct savings_counts *counts)
{
    uint64_t numbers[ACCOUNT_MAX_LINES] = {0};
    const size_t count = account_read_lines(fd, numbers);
    *counts = (struct savings_counts){0, 0, 0, 0};
    if (count != LINES && count != LINES - 1)
        return false;
    *counts = (struct savings_counts){numbers[0], numbers[1], numbers[2], numbers[3]};
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

/* Adds to the counts in the file. Requires the lock. */
static bool add(int fd, const struct savings_counts *more)
{
    struct savings_counts counts;
    (void)read_counts(fd, &counts);
    const uint64_t numbers[LINES] = {sum(counts.hits, more->hits), sum(counts.builds, more->builds),
                                     sum(counts.saved_ns, more->saved_ns),
                                     longest_after(counts.longest_ns, more->longest_ns)};
    return account_write_lines(fd, LINES, numbers) == 0;
}

bool savings_file_add(struct directory *directory, const struct savings_counts *more)
{
    char path[PATH_CAPACITY];
    struct account account;
    struct file_facts facts;
    account_path(path, directory->name_space, NAME);
    if (account_begin(directory, directory->name_space, account_deadline(directory), &account) != INGOT_SUCCESS)
        return false; /* also before the first blob is stored: then a namespace has no directory */
    const int fd = files_open_update(directory->root.fd, path);
    const bool is_added = fd >= 0 && files_facts(fd, &facts) == 0 && facts.is_file &&
                          files_are_private(&facts, directory->owner) && add(fd, more);
    if (fd >= 0)
        (void)files_close(fd);
    account_end(&account);
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
