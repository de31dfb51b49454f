/*
 * account.c - keeps the account of a namespace in size.txt; see account.h.
 *
 * Each use opens the file, because a lock belongs to the open file: threads then exclude each other as processes do,
 * and no descriptor can be closed or inherited between two uses. The lock is polled, because the kernel's own wait has
 * no deadline. The first polls do not pause, because the lock is usually held for only a few system calls. One write
 * replaces the whole content. Content that does not have the right form counts as missing.
 */
#include "persist/directory/layout/account.h"

#include <errno.h>
#include <ingot/backend.h>
#include <string.h>

#include "persist/base/files.h"
#include "util/quantity.h"

#define NAME "size.txt"
#define LINES 2u
#define LINE_SIZE 21u
#define QUICK_POLLS 200u
#define FIRST_PAUSE_NS 20000u
#define LONGEST_PAUSE_NS 2000000u
#define MAX_HALVINGS 20u
#define OPEN_ATTEMPTS 4u
/* A recount replaces a total that changed during the recount only if they differ by more than 1/16 of the total. */
#define MAX_ERROR_PART 16u

void account_path(char path[PATH_CAPACITY], const char *name_space, const char *name)
{
    if (name_space[0] == '\0')
        memcpy(path, name, strlen(name) + 1);
    else
        paths_join(path, name_space, name);
}

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

/* Reads the file. Returns false if it has no number of bytes. Versions 1 and 2 wrote one line, which may be shorter. */
static bool read_total(int fd, struct account_total *total)
{
    char text[LINES * LINE_SIZE + 1];
    size_t size = 0;
    uint64_t bytes = 0;
    uint64_t entry_count = 0;
    *total = (struct account_total){0, 0, false};
    if (files_read(fd, 0, sizeof(text), text, &size) < 0 || (size > LINE_SIZE && size != LINES * LINE_SIZE) ||
        !account_parse(size < LINE_SIZE ? size : LINE_SIZE, text, &bytes) ||
        (size > LINE_SIZE && !account_parse(LINE_SIZE, text + LINE_SIZE, &entry_count)))
        return false;
    *total = (struct account_total){bytes, entry_count, size > LINE_SIZE};
    return true;
}

/* Replaces the content of the file. Returns 0 or a negated errno. */
static int write_total(const struct account *account)
{
    const uint64_t numbers[LINES] = {account->total.bytes, account->total.entry_count};
    char text[LINES * LINE_SIZE];
    char digits[PATH_CAPACITY];
    struct file_facts facts;
    if (!files_may_grow_to(sizeof(text))) /* the write would raise a signal */
        return -EFBIG;
    memset(text, ' ', sizeof(text));
    for (size_t i = 0; i < LINES; ++i) {
        paths_number(digits, numbers[i]);
        memcpy(text + i * LINE_SIZE, digits, strlen(digits));
        text[(i + 1) * LINE_SIZE - 1] = '\n';
    }
    int result = files_write_at(account->fd, 0, sizeof(text), text);
    if (result == 0 && files_facts(account->fd, &facts) == 0 && facts.size_bytes > sizeof(text))
        result = files_truncate(account->fd, sizeof(text));
    return result;
}

/* Opens and locks the file. Unless is_last is set, sets *is_deleted and closes it if it was deleted before it was
 * locked. */
static ingot_status_t open_locked_account(const struct root *root, const char *path, uint64_t deadline_ns, bool is_last,
                                          int *fd, bool *is_deleted)
{
    struct file_facts facts = {0};
    *fd = files_open_update(root->fd, path);
    if (*fd < 0)
        return files_write_failed(*fd, "opening", path);
    ingot_status_t status = lock_file(root->directory, *fd, deadline_ns);
    if (status == INGOT_SUCCESS) {
        const int result = files_facts(*fd, &facts);
        if (result < 0 || !facts.is_file)
            status = files_write_failed(result < 0 ? result : -ELOOP, "opening", path);
        *is_deleted = facts.link_count == 0 && !is_last;
    }
    if (status != INGOT_SUCCESS || *is_deleted) {
        (void)files_unlock_whole(*fd);
        (void)files_close(*fd);
    }
    return status;
}

ingot_status_t account_begin(const struct root *root, const char *name_space, uint64_t deadline_ns,
                             struct account *account)
{
    char path[PATH_CAPACITY];
    bool is_deleted = true;
    ingot_status_t status = INGOT_SUCCESS;
    *account = (struct account){.root = root, .name_space = name_space};
    account_path(path, name_space, NAME);
    for (unsigned i = 0; i < OPEN_ATTEMPTS && is_deleted && status == INGOT_SUCCESS; ++i)
        status = open_locked_account(root, path, deadline_ns, i + 1 == OPEN_ATTEMPTS, &account->fd, &is_deleted);
    if (status == INGOT_SUCCESS)
        (void)read_total(account->fd, &account->total);
    return status;
}

void account_end(struct account *account)
{
    (void)files_unlock_whole(account->fd); /* closing alone does not unlock it while a forked child has it open */
    (void)files_close(account->fd);
}

static uint64_t saturating_sum(uint64_t a, uint64_t b)
{
    return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

static uint64_t positive_difference(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

ingot_status_t account_add(struct account *account, uint64_t bytes)
{
    if (!account->total.is_known)
        return INGOT_SUCCESS;
    account->total.bytes = saturating_sum(account->total.bytes, bytes);
    account->total.entry_count = saturating_sum(account->total.entry_count, 1);
    const int result = write_total(account);
    return result < 0 ? files_write_failed(result, "writing", NAME) : INGOT_SUCCESS;
}

void account_subtract(struct account *account, uint64_t bytes)
{
    if (!account->total.is_known)
        return;
    account->total.bytes = positive_difference(account->total.bytes, bytes);
    account->total.entry_count = positive_difference(account->total.entry_count, 1);
    (void)write_total(account); /* if this fails, the total is too high until the next eviction corrects it */
}

bool account_peek(const struct root *root, const char *name_space, struct account_total *total)
{
    char path[PATH_CAPACITY];
    *total = (struct account_total){0, 0, false};
    account_path(path, name_space, NAME);
    const int fd = files_open_read(root->fd, path);
    if (fd < 0)
        return false;
    const bool is_read = read_total(fd, total);
    (void)files_close(fd);
    return is_read;
}

uint64_t account_written_ns(const struct root *root, const char *name_space)
{
    char path[PATH_CAPACITY];
    struct file_facts facts;
    account_path(path, name_space, NAME);
    return files_facts_at(root->fd, path, &facts) == 0 ? facts.modified_ns : 0;
}

ingot_status_t account_set(struct account *account, uint64_t bytes, uint64_t entry_count)
{
    account->total = (struct account_total){bytes, entry_count, true};
    const int result = write_total(account);
    return result < 0 ? files_write_failed(result, "writing", NAME) : INGOT_SUCCESS;
}

/* Adds to a number that was counted what was stored during the count, because the count may have missed it. Returns the
 * number that is recorded if the difference is small. */
static uint64_t correct_counted_total(uint64_t counted, uint64_t before, uint64_t now)
{
    const uint64_t most = saturating_sum(counted, positive_difference(now, before));
    return positive_difference(most, now) + positive_difference(now, most) > now / MAX_ERROR_PART ? most : now;
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
        status = account_set(&account, bytes, entry_count);
    else if (before->is_known)
        status = account_set(&account, correct_counted_total(bytes, before->bytes, now->bytes),
                             correct_counted_total(entry_count, before->entry_count, now->entry_count));
    account_end(&account);
    return status;
}
