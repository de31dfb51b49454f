/*
 * account.c - the locks of a store, and the total in size.txt.
 *
 * Each use opens the lock file anew: such a lock belongs to the open file, so threads exclude each other like processes
 * do, and a forked child shares nothing. Locks are polled, because waiting in the kernel has no deadline.
 */
#include "persist/account.h"

#include <errno.h>
#include <string.h>

#include "persist/files.h"

#define BYTE_TOTAL 0u
#define BYTE_SURVEY 1u
#define DIGITS_MAX 20u
#define FILE_SIZE 21u
#define FIRST_PAUSE_NS 20000u
#define LONGEST_PAUSE_NS 2000000u

uint64_t account_deadline(const struct directory *directory)
{
    const uint64_t now = files_steady_clock_ns();
    return now > UINT64_MAX - directory->lock_timeout_ns ? UINT64_MAX : now + directory->lock_timeout_ns;
}

static ingot_status_t lock_byte(const struct directory *directory, unsigned byte, uint64_t deadline_ns, int *lock_fd)
{
    const int fd = files_open_update(directory->root, "lock");
    if (fd < 0)
        return files_write_failed(fd, "opening", "lock");
    uint64_t pause_ns = FIRST_PAUSE_NS;
    int result;
    while ((result = files_try_lock(fd, byte)) == -EAGAIN && files_steady_clock_ns() < deadline_ns) {
        files_pause_ns(pause_ns);
        pause_ns = pause_ns * 2 < LONGEST_PAUSE_NS ? pause_ns * 2 : LONGEST_PAUSE_NS;
    }
    if (result < 0) {
        (void)files_close(fd);
        return files_write_failed(result, "locking", "lock");
    }
    *lock_fd = fd;
    return INGOT_SUCCESS;
}

bool account_parse(size_t size, const char *text, uint64_t *total_bytes)
{
    size_t digits = 0;
    while (digits < size && text[digits] >= '0' && text[digits] <= '9')
        ++digits;
    for (size_t i = digits; i < size; ++i)
        if (text[i] != ' ' && text[i] != '\n')
            return false;
    if (digits == 0 || digits > DIGITS_MAX)
        return false;
    uint64_t value = 0;
    for (size_t i = 0; i < digits; ++i) {
        const uint64_t digit = (uint64_t)(text[i] - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *total_bytes = value;
    return true;
}

static bool read_total(int fd, uint64_t *total_bytes, bool *is_too_long)
{
    char text[FILE_SIZE + 1];
    size_t size = 0;
    const int result = files_read(fd, 0, sizeof(text), text, &size);
    *is_too_long = size > FILE_SIZE;
    return result == 0 && !*is_too_long && account_parse(size, text, total_bytes);
}

ingot_status_t account_begin(const struct directory *directory, uint64_t deadline_ns, struct account *account)
{
    *account = (struct account){.lock_fd = -1};
    account->size_fd = files_open_update(directory->root, "size.txt"); /* before the lock: it is held the shorter */
    if (account->size_fd < 0)
        return files_write_failed(account->size_fd, "opening", "size.txt");
    const ingot_status_t status = lock_byte(directory, BYTE_TOTAL, deadline_ns, &account->lock_fd);
    if (status != INGOT_SUCCESS) {
        (void)files_close(account->size_fd);
        return status;
    }
    account->is_known = read_total(account->size_fd, &account->total_bytes, &account->is_too_long);
    return INGOT_SUCCESS;
}

void account_add(struct account *account, uint64_t bytes)
{
    account->total_bytes = bytes > UINT64_MAX - account->total_bytes ? UINT64_MAX : account->total_bytes + bytes;
}

void account_subtract(struct account *account, uint64_t bytes)
{
    if (bytes > account->total_bytes)
        account->is_known = false;
    else
        account->total_bytes -= bytes;
}

bool account_has_room(const struct directory *directory, const struct account *account, uint64_t bytes)
{
    const uint64_t limit = directory->max_bytes;
    return account->is_known &&
           (limit == UINT64_MAX || (account->total_bytes <= limit && bytes <= limit - account->total_bytes));
}

void account_write(const struct account *account)
{
    char text[FILE_SIZE];
    char digits[PATH_CAPACITY];
    memset(text, ' ', sizeof(text));
    text[FILE_SIZE - 1] = '\n';
    if (account->is_known) {
        paths_number(digits, account->total_bytes);
        memcpy(text, digits, strlen(digits));
    }
    (void)files_write_at(account->size_fd, 0, sizeof(text), text);
    if (account->is_too_long)
        (void)files_truncate(account->size_fd, sizeof(text));
}

void account_end(struct account *account)
{
    (void)files_unlock(account->lock_fd, BYTE_TOTAL);
    (void)files_close(account->lock_fd);
    (void)files_close(account->size_fd);
}

bool account_peek(const struct directory *directory, uint64_t *total_bytes)
{
    const int fd = files_open_read(directory->root, "size.txt");
    if (fd < 0)
        return false;
    bool is_too_long;
    const bool is_known = read_total(fd, total_bytes, &is_too_long);
    (void)files_close(fd);
    return is_known;
}

ingot_status_t account_lock_survey(const struct directory *directory, uint64_t deadline_ns, int *lock_fd)
{
    return lock_byte(directory, BYTE_SURVEY, deadline_ns, lock_fd);
}

void account_unlock_survey(int lock_fd)
{
    (void)files_unlock(lock_fd, BYTE_SURVEY);
    (void)files_close(lock_fd);
}
