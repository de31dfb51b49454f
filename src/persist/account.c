/*
 * account.c - the locks of a store, and the total in size.txt.
 *
 * A lock belongs to the open file, so each thread that is at it has its own: threads exclude each other like processes
 * do. Files are kept open for whoever comes next, in the process that opened them only, and as long as they are what
 * their names say. Locks are polled, because waiting in the kernel has no deadline; first without a pause, because they
 * are held for a few system calls.
 */
#include "persist/account.h"

#include <errno.h>
#include <string.h>

#include "persist/digits.h"
#include "persist/files.h"

#define BYTE_TOTAL 0u
#define BYTE_SURVEY 1u
#define FILE_SIZE 21u
#define QUICK_POLLS 200u
#define FIRST_PAUSE_NS 20000u
#define LONGEST_PAUSE_NS 2000000u

enum account_use { ACCOUNT_EMPTY, ACCOUNT_IDLE, ACCOUNT_TAKEN };

uint64_t account_deadline(const struct directory *directory)
{
    const uint64_t now = files_steady_clock_ns();
    return now > UINT64_MAX - directory->lock_timeout_ns ? UINT64_MAX : now + directory->lock_timeout_ns;
}

static int open_lock(const struct directory *directory)
{
    return files_open_update(directory->root, "lock");
}

static ingot_status_t lock_byte(int lock_fd, unsigned byte, uint64_t deadline_ns)
{
    uint64_t pause_ns = FIRST_PAUSE_NS;
    int result = -EAGAIN;
    for (unsigned i = 0; i < QUICK_POLLS && result == -EAGAIN; ++i)
        result = files_try_lock(lock_fd, byte);
    while (result == -EAGAIN && files_steady_clock_ns() < deadline_ns) {
        files_pause_ns(pause_ns);
        pause_ns = pause_ns * 2 < LONGEST_PAUSE_NS ? pause_ns * 2 : LONGEST_PAUSE_NS;
        result = files_try_lock(lock_fd, byte);
    }
    return result < 0 ? files_write_failed(result, "locking", "lock") : INGOT_SUCCESS;
}

static bool has_inode(const struct directory *directory, const char *name, uint64_t inode)
{
    struct file_facts facts;
    return files_facts_at(directory->root, name, &facts) == 0 && facts.is_file && facts.inode == inode;
}

/* All but who uses them. */
static void copy_files(struct account_files *to, const struct account_files *from)
{
    to->lock_fd = from->lock_fd;
    to->size_fd = from->size_fd;
    to->process = from->process;
    to->lock_inode = from->lock_inode;
    to->size_inode = from->size_inode;
}

static void close_files(struct account_files *files)
{
    (void)files_close(files->lock_fd);
    (void)files_close(files->size_fd);
}

/* Takes files that are kept, or an empty place to keep them, and says which. */
static struct account_files *take_kept(struct directory *directory, int *use)
{
    for (int wanted = ACCOUNT_IDLE;; wanted = ACCOUNT_EMPTY) {
        for (unsigned i = 0; i < ACCOUNT_KEPT; ++i) {
            int found = wanted;
            if (atomic_compare_exchange_strong_explicit(&directory->kept[i].use, &found, ACCOUNT_TAKEN,
                                                        memory_order_acquire, memory_order_relaxed)) {
                *use = wanted;
                return &directory->kept[i];
            }
        }
        if (wanted == ACCOUNT_EMPTY)
            return NULL;
    }
}

static void put_back(struct account_files *kept, int use)
{
    atomic_store_explicit(&kept->use, use, memory_order_release);
}

static ingot_status_t open_files(const struct directory *directory, struct account_files *files)
{
    struct file_facts lock_facts;
    struct file_facts size_facts;
    files->size_fd = files_open_update(directory->root, "size.txt");
    if (files->size_fd < 0)
        return files_write_failed(files->size_fd, "opening", "size.txt");
    files->lock_fd = open_lock(directory);
    int result = files->lock_fd;
    if (result >= 0)
        result = files_facts(files->lock_fd, &lock_facts);
    if (result >= 0)
        result = files_facts(files->size_fd, &size_facts);
    if (result < 0) {
        (void)files_close(files->size_fd);
        if (files->lock_fd >= 0)
            (void)files_close(files->lock_fd);
        return files_write_failed(result, "opening", "lock");
    }
    files->process = files_process();
    files->lock_inode = lock_facts.inode;
    files->size_inode = size_facts.inode;
    return INGOT_SUCCESS;
}

/* Files for one use, which are nobody else's until give_files. */
static ingot_status_t get_files(struct directory *directory, struct account *account)
{
    int use = ACCOUNT_EMPTY;
    struct account_files *kept = take_kept(directory, &use);
    if (use == ACCOUNT_IDLE && kept->process != files_process()) {
        put_back(kept, ACCOUNT_IDLE); /* the parent's: closed with the store */
        kept = NULL;
    } else if (use == ACCOUNT_IDLE) {
        if (has_inode(directory, "lock", kept->lock_inode) && has_inode(directory, "size.txt", kept->size_inode)) {
            copy_files(&account->files, kept);
            account->kept = kept;
            return INGOT_SUCCESS;
        }
        close_files(kept);
    }
    const ingot_status_t status = open_files(directory, &account->files);
    if (status != INGOT_SUCCESS) {
        if (kept != NULL)
            put_back(kept, ACCOUNT_EMPTY);
        return status;
    }
    account->kept = kept;
    return INGOT_SUCCESS;
}

static void give_files(struct account *account)
{
    struct account_files *kept = account->kept;
    if (kept == NULL) {
        close_files(&account->files);
        return;
    }
    copy_files(kept, &account->files);
    put_back(kept, ACCOUNT_IDLE);
}

void account_fini(struct directory *directory)
{
    for (unsigned i = 0; i < ACCOUNT_KEPT; ++i)
        if (atomic_load_explicit(&directory->kept[i].use, memory_order_acquire) == ACCOUNT_IDLE)
            close_files(&directory->kept[i]);
}

bool account_parse(size_t size, const char *text, uint64_t *total_bytes)
{
    size_t digits;
    uint64_t value;
    if (!digits_read(size, text, UINT64_MAX, &value, &digits) || digits > DIGITS_MAX)
        return false;
    for (size_t i = digits; i < size; ++i)
        if (text[i] != ' ' && text[i] != '\n')
            return false;
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

ingot_status_t account_begin(struct directory *directory, uint64_t deadline_ns, struct account *account)
{
    *account = (struct account){.kept = NULL};
    ingot_status_t status = get_files(directory, account); /* before the lock: it is held the shorter */
    if (status != INGOT_SUCCESS)
        return status;
    status = lock_byte(account->files.lock_fd, BYTE_TOTAL, deadline_ns);
    if (status != INGOT_SUCCESS) {
        give_files(account);
        return status;
    }
    account->is_known = read_total(account->files.size_fd, &account->total_bytes, &account->is_too_long);
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
    if (!files_may_grow_to(sizeof(text)))
        return; /* or the signal for it would end the process; it is a hint, and counted anew before it matters */
    (void)files_write_at(account->files.size_fd, 0, sizeof(text), text);
    if (account->is_too_long)
        (void)files_truncate(account->files.size_fd, sizeof(text));
}

void account_end(struct account *account)
{
    (void)files_unlock(account->files.lock_fd, BYTE_TOTAL);
    give_files(account);
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
    const int fd = open_lock(directory);
    if (fd < 0)
        return files_write_failed(fd, "opening", "lock");
    const ingot_status_t status = lock_byte(fd, BYTE_SURVEY, deadline_ns);
    if (status != INGOT_SUCCESS)
        (void)files_close(fd);
    else
        *lock_fd = fd;
    return status;
}

void account_unlock_survey(int lock_fd)
{
    (void)files_unlock(lock_fd, BYTE_SURVEY);
    (void)files_close(lock_fd);
}
