/*
 * account.c - keeps the account of a namespace in size.txt; see entries.h.
 *
 * Each use opens the file, because a lock belongs to the open file: threads then exclude each other as processes do,
 * and no descriptor can be closed or inherited between two uses. The lock is polled, because the kernel's own wait has
 * no deadline. The first polls do not pause, because the lock is usually held for only a few system calls. One write
 * replaces the whole content. Content that does not have the right form counts as missing.
 *
 * A store that has stored some entries puts further ones in their places without the lock, and owes them to the
 * account. What is owed is added when the store next has the lock. It is one number, so that a thread adds to it at
 * once: the pages of 4,096 bytes in the upper bits, and the number of entries in the lower ones. So that limits hold,
 * it stays below a small part of the room that was free when the store last had the lock.
 *
 * A count finds entries that other stores owe, which then add them once more: the total is too high until the next
 * eviction. A store that is killed never adds them: the total is too low until then. One that is closed and does not
 * get the lock makes the total unknown, so that a store on a busy network file system does not grow over its limits.
 *
 * On a machine with more work than processors, a thread that has the lock may not run for a long time. A store that
 * does not get the lock in time therefore puts its entry in its place all the same, and owes it, too.
 */
#include "persist/directory/entries.h"

#include <errno.h>
#include <ingot/backend.h>
#include <stdio.h>
#include <string.h>

#include "persist/base/base.h"
#include "persist/directory/format/entry.h"
#include "persist/directory/state.h"
#include "util/quantity.h"

#define NAME "size.txt"
#define FORMAT_VERSION 1u
#define LINES 3 /* bytes, entries, and the version of the format */
#define LINE_SIZE 21
#define QUICK_POLLS 200u
#define FIRST_PAUSE_NS 20000u
#define LONGEST_PAUSE_NS 2000000u
#define MAX_HALVINGS 20u
#define MANY_STORED 64u /* a store that had the lock for so many entries owes further ones */
#define MOST_OWED 32u   /* entries that a store may owe */
#define COUNT_BITS 16u
#define COUNT_MASK (((uint64_t)1 << COUNT_BITS) - 1)
#define ROOM_PART 64u /* at most this part of the free room is owed */

uint64_t account_deadline(const struct directory *directory)
{
    const uint64_t now = files_steady_clock_ns();
    const unsigned timeouts = atomic_load_explicit(&directory->lock_timeouts, memory_order_relaxed);
    const uint64_t wait_ns = timeouts < MAX_HALVINGS ? directory->lock_timeout_ns >> timeouts : 0;
    return now > UINT64_MAX - wait_ns ? UINT64_MAX : now + wait_ns;
}

static ingot_status_t lock_file(struct directory *directory, int fd, uint64_t deadline_ns)
{
    uint64_t pause_ns = FIRST_PAUSE_NS;
    int result = -EAGAIN;
    for (unsigned i = 0; i < QUICK_POLLS && result == -EAGAIN; ++i)
        result = files_try_lock_whole(fd);
    while (result == -EAGAIN && files_steady_clock_ns() < deadline_ns) {
        files_pause_ns(pause_ns);
        pause_ns = pause_ns * 2 < LONGEST_PAUSE_NS ? pause_ns * 2 : LONGEST_PAUSE_NS;
        result = files_try_lock_whole(fd);
    }
    /* A process that was stopped while it held the lock would otherwise cost each store the whole timeout, without end.
     * Without a deadline, the thread did not wait. */
    const unsigned timeouts = atomic_load_explicit(&directory->lock_timeouts, memory_order_relaxed);
    if (result != -EAGAIN && timeouts != 0 && (result == 0 || deadline_ns != 0))
        atomic_store_explicit(&directory->lock_timeouts, 0, memory_order_relaxed);
    else if (result == -EAGAIN && timeouts < MAX_HALVINGS && deadline_ns != 0)
        atomic_store_explicit(&directory->lock_timeouts, timeouts + 1, memory_order_relaxed);
    return result < 0 ? files_lock_failed(result, NAME) : INGOT_SUCCESS;
}

bool account_parse(size_t size, const char *text, uint64_t *number)
{
    size_t digits;
    uint64_t value;
    if (!digits_read(size, text, UINT64_MAX, &value, &digits) || digits > DIGITS_MAX)
        return false;
    for (size_t i = digits; i < size; ++i)
        if (text[i] != ' ' && text[i] != '\n')
            return false;
    *number = value;
    return true;
}

/* Reads the file. Returns false if it has no totals. */
static bool read_total(int fd, struct account_total *total, bool *is_long)
{
    char text[LINES * LINE_SIZE + 1];
    uint64_t version = 0;
    *total = (struct account_total){.is_known = false};
    /* if this reads too little, the content counts as missing, so no second call looks for the file's end */
    const int size = files_read_once(fd, sizeof(text), text);
    *is_long = size > LINES * LINE_SIZE;
    if (size == LINES * LINE_SIZE && account_parse(LINE_SIZE, text + 2 * LINE_SIZE, &version) &&
        version == FORMAT_VERSION && account_parse(LINE_SIZE, text, &total->bytes) &&
        account_parse(LINE_SIZE, text + LINE_SIZE, &total->entry_count))
        total->is_known = true;
    else
        *total = (struct account_total){.is_known = false};
    return total->is_known;
}

/* Replaces the content of the file. Returns 0 or a negated errno. */
static int write_total(const struct account *account)
{
    char text[LINES * LINE_SIZE + 1];
    if (sizeof(text) - 1 > root_file_limit(account->root)) /* the write would raise a signal */
        return -EFBIG;
    (void)snprintf(text, sizeof(text), "%-20llu\n%-20llu\n%-20u\n", (unsigned long long)account->total.bytes,
                   (unsigned long long)account->total.entry_count, FORMAT_VERSION);
    return files_write(account->fd, 0, sizeof(text) - 1, text);
}

static uint64_t positive_difference(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static void add_to_total(struct account_total *total, uint64_t added)
{
    total->bytes = account_sum(total->bytes, (added >> COUNT_BITS) * ENTRY_PAGE_SIZE);
    total->entry_count = account_sum(total->entry_count, added & COUNT_MASK);
}

/* Adds what the store owes. If the totals are not known, the next count has it. */
static void add_owed(struct account *account)
{
    struct directory *directory = account->root->directory;
    atomic_store_explicit(&directory->owed_limit, 0, memory_order_relaxed); /* account_add sets it again */
    const uint64_t owed = atomic_exchange_explicit(&directory->owed, 0, memory_order_relaxed);
    if (owed == 0 || !account->total.is_known)
        return;
    add_to_total(&account->total, owed);
    (void)write_total(account);
}

ingot_status_t account_begin(const struct root *root, const char *name_space, uint64_t deadline_ns,
                             struct account *account)
{
    char path[PATH_CAPACITY];
    paths_in_name_space(path, name_space, NAME);
    *account = (struct account){.root = root, .fd = files_open_update(root->fd, path)};
    if (account->fd < 0)
        return account->fd == -ENOENT ? ingot_set_error(INGOT_NOT_FOUND, ENOENT, "%s has no directory", path)
                                      : files_write_failed(account->fd, "opening", path);
    const ingot_status_t status = lock_file(root->directory, account->fd, deadline_ns);
    if (status != INGOT_SUCCESS) {
        (void)files_close(account->fd);
        return status;
    }
    bool is_long = false;
    (void)read_total(account->fd, &account->total, &is_long);
    if (is_long) /* before anything is counted, so that a store that is closed meanwhile makes the file long again */
        (void)files_truncate(account->fd, 0);
    if (strcmp(name_space, root->directory->name_space) == 0)
        add_owed(account);
    return INGOT_SUCCESS;
}

void account_end(struct account *account)
{
    (void)files_unlock_whole(account->fd); /* closing alone does not unlock it while a forked child has it open */
    (void)files_close(account->fd);
}

ingot_status_t account_set(struct account *account, uint64_t bytes, uint64_t entry_count)
{
    if (account->total.is_known && account->total.bytes == bytes && account->total.entry_count == entry_count)
        return INGOT_SUCCESS;
    account->total = (struct account_total){bytes, entry_count, true};
    const int result = write_total(account);
    return result < 0 ? files_write_failed(result, "writing", NAME) : INGOT_SUCCESS;
}

ingot_status_t account_forget(struct account *account)
{
    account->total = (struct account_total){.is_known = false};
    const int result = files_truncate(account->fd, 0);
    return result < 0 ? files_write_failed(result, "truncating", NAME) : INGOT_SUCCESS;
}

/* ---- what is owed ---- */

static uint64_t pages_of(uint64_t bytes)
{
    return bytes / ENTRY_PAGE_SIZE + (bytes % ENTRY_PAGE_SIZE != 0);
}

ingot_status_t account_add(struct account *account, uint64_t bytes)
{
    struct directory *directory = account->root->directory;
    if (!account->total.is_known)
        return INGOT_SUCCESS;
    const ingot_status_t status =
        account_set(account, account_sum(account->total.bytes, bytes), account_sum(account->total.entry_count, 1));
    if (status != INGOT_SUCCESS ||
        atomic_fetch_add_explicit(&directory->stored_count, 1, memory_order_relaxed) < MANY_STORED)
        return status;
    /* the store may owe as much as fits in a part of the free room */
    const uint64_t room = positive_difference(directory->max_bytes, account->total.bytes) / ROOM_PART;
    const uint64_t entries = positive_difference(directory->max_entries, account->total.entry_count) / ROOM_PART;
    atomic_store_explicit(&directory->owed_limit,
                          room / ENTRY_PAGE_SIZE << COUNT_BITS | (entries < MOST_OWED ? entries : MOST_OWED),
                          memory_order_relaxed);
    return status;
}

bool account_may_owe(const struct directory *directory, uint64_t bytes, bool is_urgent)
{
    const uint64_t owed = atomic_load_explicit(&directory->owed, memory_order_relaxed);
    const uint64_t limit = atomic_load_explicit(&directory->owed_limit, memory_order_relaxed);
    if (is_urgent)
        return (owed & COUNT_MASK) < MOST_OWED;
    return (owed & COUNT_MASK) < (limit & COUNT_MASK) && (owed >> COUNT_BITS) + pages_of(bytes) <= limit >> COUNT_BITS;
}

void account_owe(struct directory *directory, uint64_t bytes, uint64_t entry_count)
{
    (void)atomic_fetch_add_explicit(&directory->owed, pages_of(bytes) << COUNT_BITS | entry_count,
                                    memory_order_relaxed);
}

/* Makes the file too long without the lock, so that its totals are unknown. The process that has the lock meanwhile
 * writes only the first 63 bytes. The next one counts, and finds the entries that were owed. */
static void spoil_total(const struct root *root)
{
    char path[PATH_CAPACITY];
    paths_in_name_space(path, root->directory->name_space, NAME);
    const int fd = files_size_limit() > LINES * LINE_SIZE ? files_open_update(root->fd, path) : -1;
    if (fd < 0)
        return;
    (void)files_write(fd, LINES * LINE_SIZE, 1, "\n");
    (void)files_close(fd);
}

void account_settle(struct directory *directory)
{
    struct root root;
    struct account account;
    if (atomic_load_explicit(&directory->owed, memory_order_relaxed) == 0)
        return;
    atomic_store_explicit(&directory->lock_timeouts, 0, memory_order_relaxed); /* this is the last chance */
    if (root_open(directory, false, &root) == INGOT_SUCCESS) {
        if (account_begin(&root, directory->name_space, account_deadline(directory), &account) == INGOT_SUCCESS)
            account_end(&account);
        else
            spoil_total(&root);
    }
    root_close(&root);
}

/* ---- */

void account_subtract(struct account *account, uint64_t bytes, uint64_t entry_count)
{
    if (account->total.is_known)
        (void)account_set(account, positive_difference(account->total.bytes, bytes),
                          positive_difference(account->total.entry_count, entry_count));
}

bool account_peek(const struct root *root, const char *name_space, struct account_total *total)
{
    char path[PATH_CAPACITY];
    bool is_long;
    *total = (struct account_total){.is_known = false};
    paths_in_name_space(path, name_space, NAME);
    const int fd = files_open_read(root->fd, path);
    if (fd < 0)
        return false;
    const bool is_read = read_total(fd, total, &is_long);
    (void)files_close(fd);
    return is_read;
}

bool account_peek_own(const struct root *root, struct account_total *total)
{
    const bool is_known = account_peek(root, root->directory->name_space, total);
    add_to_total(total, atomic_load_explicit(&root->directory->owed, memory_order_relaxed));
    return is_known;
}

ingot_status_t account_correct(const struct root *root, const char *name_space, const struct account_total *before,
                               uint64_t bytes, uint64_t entry_count)
{
    struct account account;
    ingot_status_t status = account_begin(root, name_space, account_deadline(root->directory), &account);
    if (status != INGOT_SUCCESS)
        return status;
    const struct account_total *now = &account.total;
    if (now->is_known ? now->bytes == before->bytes && now->entry_count == before->entry_count : !before->is_known)
        status = account_set(&account, bytes, entry_count);
    account_end(&account);
    return status;
}
