/*
 * account.c - keeps the account of a namespace in size.txt; see account.h.
 *
 * Each use opens the file, because a lock belongs to the open file: threads then exclude each other as processes do,
 * and no descriptor can be closed or inherited between two uses. The lock is polled, because the kernel's own wait has
 * no deadline. The first polls do not pause, because the lock is usually held for only a few system calls. One write
 * replaces the whole content. Content that does not have the right form counts as missing.
 *
 * A store that has stored some entries reserves room for further ones: it adds them to the totals before they exist, so
 * that their storing does not use the file. What is reserved is one number, so that a thread takes from it at once: the
 * pages of 4,096 bytes in the upper bits, and the number of entries in the lower ones. What is owed has the same form.
 *
 * A count does not find what is reserved, so it gives the totals a new mark: room that was reserved under another mark
 * is no longer in them. A thread that has taken room therefore looks at the mark before it uses the room.
 *
 * On a machine with more work than processors, a thread that has the lock may not run for a long time. A store that
 * does not get the lock in time therefore puts its entry in its place all the same, and owes it to the account.
 */
#include "persist/directory/account.h"

#include <errno.h>
#include <ingot/backend.h>
#include <stdio.h>
#include <string.h>

#include "persist/base/files.h"
#include "persist/directory/format/entry.h"
#include "persist/directory/root.h"
#include "util/quantity.h"

#define NAME "size.txt"
#define FORMAT_VERSION 4u
#define LINES 4u /* bytes, entries, the version of the format, and the mark of the last count */
#define LINE_SIZE 21u
#define QUICK_POLLS 200u
#define FIRST_PAUSE_NS 20000u
#define LONGEST_PAUSE_NS 2000000u
#define MAX_HALVINGS 20u
/* A recount replaces a total that changed during the recount only if that is too low by more than 1/16. */
#define MAX_ERROR_PART 16u
/* A store that asked for room this often reserves it for several further entries. */
#define MANY_STORED 64u
#define RESERVED_ENTRIES 32u
#define MOST_OWED 32u /* entries that a store may owe */
#define COUNT_BITS 16u
#define COUNT_MASK (((uint64_t)1 << COUNT_BITS) - 1)
#define ROOM_PART 64u /* at most this part of the free room is reserved */

uint64_t account_deadline(const struct directory *directory)
{
    const uint64_t now = files_steady_clock_ns();
    const unsigned timeouts = atomic_load_explicit(&directory->lock_timeouts, memory_order_relaxed);
    const uint64_t wait_ns = timeouts < MAX_HALVINGS ? directory->lock_timeout_ns >> timeouts : 0;
    return now > UINT64_MAX - wait_ns ? UINT64_MAX : now + wait_ns;
}

/* Notes whether the lock was free in time. A process that was stopped while it held the lock would otherwise cost each
 * store the whole timeout, without end. */
static void note_timeout(struct directory *directory, bool is_timeout)
{
    const unsigned timeouts = atomic_load_explicit(&directory->lock_timeouts, memory_order_relaxed);
    if (is_timeout ? timeouts < MAX_HALVINGS : timeouts != 0)
        atomic_store_explicit(&directory->lock_timeouts, is_timeout ? timeouts + 1 : 0, memory_order_relaxed);
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
    if (result == 0 || deadline_ns != 0) /* without a deadline, the thread did not wait */
        note_timeout(directory, result == -EAGAIN);
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
    size_t size = 0;
    uint64_t version = 0;
    *total = (struct account_total){.is_known = false};
    const bool is_read = files_read(fd, 0, sizeof(text), text, &size) == 0;
    *is_long = size > LINES * LINE_SIZE;
    if (is_read && size == LINES * LINE_SIZE && account_parse(LINE_SIZE, text + 2 * LINE_SIZE, &version) &&
        version == FORMAT_VERSION && account_parse(LINE_SIZE, text, &total->bytes) &&
        account_parse(LINE_SIZE, text + LINE_SIZE, &total->entry_count) &&
        account_parse(LINE_SIZE, text + 3 * LINE_SIZE, &total->mark))
        total->is_known = true;
    else
        *total = (struct account_total){.is_known = false};
    return total->is_known;
}

/* Replaces the content of the file. Returns 0 or a negated errno. */
static int write_total(const struct account *account)
{
    char text[LINES * LINE_SIZE + 1];
    if (!files_may_grow_to(sizeof(text) - 1)) /* the write would raise a signal */
        return -EFBIG;
    (void)snprintf(text, sizeof(text), "%-20llu\n%-20llu\n%-20u\n%-20llu\n", (unsigned long long)account->total.bytes,
                   (unsigned long long)account->total.entry_count, FORMAT_VERSION,
                   (unsigned long long)account->total.mark);
    const int result = files_write_at(account->fd, 0, sizeof(text) - 1, text);
    return result == 0 && account->is_long ? files_truncate(account->fd, sizeof(text) - 1) : result;
}

static uint64_t saturating_sum(uint64_t a, uint64_t b)
{
    return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

static uint64_t positive_difference(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void add_to_total(struct account_total *total, uint64_t added)
{
    total->bytes = saturating_sum(total->bytes, (added >> COUNT_BITS) * ENTRY_PAGE_SIZE);
    total->entry_count = saturating_sum(total->entry_count, added & COUNT_MASK);
}

/* Adds what the store owes. If the totals are not known, the next count has it. */
static void settle(struct account *account)
{
    _Atomic uint64_t *owed = &account->root->directory->owed;
    if (atomic_load_explicit(owed, memory_order_relaxed) == 0)
        return;
    const uint64_t added = atomic_exchange_explicit(owed, 0, memory_order_relaxed);
    if (!account->total.is_known)
        return;
    add_to_total(&account->total, added);
    (void)write_total(account);
}

/* True if the totals have the room that the store has reserved. */
static bool has_reserved(const struct directory *directory, const struct account_total *total)
{
    return total->is_known && total->mark == atomic_load_explicit(&directory->reserved_mark, memory_order_relaxed);
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
    (void)read_total(account->fd, &account->total, &account->is_long);
    account->is_own = strcmp(name_space, root->directory->name_space) == 0;
    if (account->is_own && !has_reserved(root->directory, &account->total))
        (void)atomic_exchange_explicit(&root->directory->reserved, 0, memory_order_relaxed);
    if (account->is_own)
        settle(account);
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
    account->total = (struct account_total){bytes, entry_count, account->total.mark, true};
    const int result = write_total(account);
    return result < 0 ? files_write_failed(result, "writing", NAME) : INGOT_SUCCESS;
}

static void renew_mark(struct account *account)
{
    account->total.mark = files_random();
    if (account->is_own)
        (void)atomic_exchange_explicit(&account->root->directory->reserved, 0, memory_order_relaxed);
}

void account_begin_count(struct account *account)
{
    renew_mark(account);
    if (account->total.is_known)
        (void)write_total(account);
}

ingot_status_t account_set_counted(struct account *account, uint64_t bytes, uint64_t entry_count)
{
    renew_mark(account);
    account->total.is_known = false; /* so that the mark is written */
    return account_set(account, bytes, entry_count);
}

ingot_status_t account_forget(struct account *account)
{
    account->total = (struct account_total){.is_known = false};
    const int result = files_truncate(account->fd, 0);
    return result < 0 ? files_write_failed(result, "truncating", NAME) : INGOT_SUCCESS;
}

/* ---- room that is reserved ---- */

static uint64_t pages_of(uint64_t bytes)
{
    return bytes / ENTRY_PAGE_SIZE + (bytes % ENTRY_PAGE_SIZE != 0);
}

bool account_take_reserved(const struct root *root, uint64_t bytes, uint64_t *mark)
{
    struct directory *directory = root->directory;
    struct account_total total;
    const uint64_t taken = pages_of(bytes) << COUNT_BITS | 1;
    uint64_t reserved = atomic_load_explicit(&directory->reserved, memory_order_relaxed);
    do {
        if ((reserved & COUNT_MASK) == 0 || reserved >> COUNT_BITS < taken >> COUNT_BITS)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&directory->reserved, &reserved, reserved - taken,
                                                    memory_order_relaxed, memory_order_relaxed));
    if (!account_peek(root, directory->name_space, &total) || !has_reserved(directory, &total))
        return false;
    *mark = total.mark;
    return true;
}

uint64_t account_bytes_without_reserved(const struct directory *directory, const struct account_total *total)
{
    const uint64_t reserved =
        has_reserved(directory, total) ? atomic_load_explicit(&directory->reserved, memory_order_relaxed) : 0;
    return positive_difference(total->bytes, (reserved >> COUNT_BITS) * ENTRY_PAGE_SIZE);
}

void account_return_reserved(struct directory *directory)
{
    struct root root;
    struct account account;
    const bool owes = atomic_load_explicit(&directory->owed, memory_order_relaxed) != 0;
    if (atomic_load_explicit(&directory->reserved, memory_order_relaxed) == 0 && !owes)
        return;
    if (owes)
        atomic_store_explicit(&directory->lock_timeouts, 0, memory_order_relaxed); /* this is the last chance */
    const bool is_begun =
        root_open_existing(directory, &root) == INGOT_SUCCESS &&
        account_begin(&root, directory->name_space, account_deadline(directory), &account) == INGOT_SUCCESS;
    const uint64_t reserved = atomic_exchange_explicit(&directory->reserved, 0, memory_order_relaxed);
    if (is_begun && reserved != 0)
        account_subtract(&account, (reserved >> COUNT_BITS) * ENTRY_PAGE_SIZE, reserved & COUNT_MASK);
    if (is_begun)
        account_end(&account);
    root_close(&root);
}

/* Returns how many more entries of a size to reserve room for, beside the one that is added. */
static uint64_t count_to_reserve(const struct account *account, uint64_t bytes, uint64_t max_bytes,
                                 uint64_t max_entries)
{
    struct directory *directory = account->root->directory;
    if (atomic_fetch_add_explicit(&directory->stored_count, 1, memory_order_relaxed) < MANY_STORED)
        return 0;
    const uint64_t free_bytes = positive_difference(max_bytes, account->total.bytes) / ROOM_PART;
    const uint64_t free_entries = positive_difference(max_entries, account->total.entry_count) / ROOM_PART;
    return smaller(smaller(free_entries, free_bytes / (pages_of(bytes) * ENTRY_PAGE_SIZE)), RESERVED_ENTRIES);
}

ingot_status_t account_add(struct account *account, uint64_t bytes, uint64_t max_bytes, uint64_t max_entries)
{
    if (!account->total.is_known)
        return INGOT_SUCCESS;
    _Atomic uint64_t *reserved = &account->root->directory->reserved; /* grows only while the account is locked */
    const uint64_t more = count_to_reserve(account, bytes, max_bytes, max_entries);
    const uint64_t more_pages = more * pages_of(bytes);
    const uint64_t rest = more != 0 ? atomic_exchange_explicit(reserved, 0, memory_order_relaxed) : 0;
    const uint64_t other_bytes = positive_difference(account->total.bytes, (rest >> COUNT_BITS) * ENTRY_PAGE_SIZE);
    const uint64_t other_count = positive_difference(account->total.entry_count, rest & COUNT_MASK);
    const ingot_status_t status =
        account_set(account, saturating_sum(other_bytes, bytes + more_pages * ENTRY_PAGE_SIZE),
                    saturating_sum(other_count, 1 + more));
    atomic_store_explicit(&account->root->directory->reserved_mark, account->total.mark, memory_order_relaxed);
    if (status == INGOT_SUCCESS && more != 0)
        atomic_store_explicit(reserved, more_pages << COUNT_BITS | more, memory_order_relaxed);
    return status;
}

/* ---- what is owed ---- */

bool account_may_owe(const struct directory *directory, struct account_total *total)
{
    const uint64_t owed = atomic_load_explicit(&directory->owed, memory_order_relaxed);
    add_to_total(total, owed);
    return (owed & COUNT_MASK) < MOST_OWED;
}

void account_owe(struct directory *directory, uint64_t bytes, uint64_t entry_count)
{
    (void)atomic_fetch_add_explicit(&directory->owed, pages_of(bytes) << COUNT_BITS | entry_count,
                                    memory_order_relaxed);
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

/* Adds to a number that was counted what was stored during the count, because the count may have missed it. Returns the
 * number that is recorded if that is higher, because as many entries may have been removed as stored, or if the
 * difference is small. */
static uint64_t correct_counted_total(uint64_t counted, uint64_t before, uint64_t now)
{
    const uint64_t most = saturating_sum(counted, positive_difference(now, before));
    return positive_difference(most, now) > now / MAX_ERROR_PART ? most : now;
}

ingot_status_t account_correct(const struct root *root, const char *name_space, const struct account_total *before,
                               uint64_t bytes, uint64_t entry_count)
{
    struct account account;
    ingot_status_t status = account_begin(root, name_space, account_deadline(root->directory), &account);
    if (status != INGOT_SUCCESS)
        return status;
    const struct account_total *now = &account.total;
    if (!now->is_known || (now->bytes == before->bytes && now->entry_count == before->entry_count))
        status = account_set_counted(&account, bytes, entry_count);
    else if (before->is_known)
        status = account_set_counted(&account, correct_counted_total(bytes, before->bytes, now->bytes),
                                     correct_counted_total(entry_count, before->entry_count, now->entry_count));
    account_end(&account);
    return status;
}
