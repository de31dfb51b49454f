/*
 * account.h - keeps the account of a namespace in size.txt: the bytes and the number of its entries.
 *
 * The lock of size.txt also makes renames into and out of buckets exclude each other. To add or remove entries, a
 * thread calls account_begin first and account_end last.
 */
#ifndef INGOT_PERSIST_DIRECTORY_LAYOUT_ACCOUNT_H
#define INGOT_PERSIST_DIRECTORY_LAYOUT_ACCOUNT_H

#include "persist/directory/layout/state.h"

struct account_total {
    uint64_t bytes;
    uint64_t entry_count;
    bool is_known; /* false: size.txt is missing, damaged, or of an earlier version, which wrote only the bytes */
};

/* A namespace's totals of bytes and entries, whose file size.txt is locked. */
struct account {
    const struct root *root;
    const char *name_space;
    int fd; /* size.txt */
    struct account_total total;
};

/* Returns the time until which to wait for locks, on the clock of files_steady_clock_ns. */
uint64_t account_deadline(const struct directory *directory);

/* Locks the account and reads it. Returns INGOT_BUSY if the lock was not free by the deadline. A deadline in the past
 * means not to wait at all. */
ingot_status_t account_begin(const struct root *root, const char *name_space, uint64_t deadline_ns,
                             struct account *account);
void account_end(struct account *account);

/* Adds an entry that is about to be put in its place. If the process is killed before that, the total is too high until
 * the next eviction corrects it. A total that is not known stays as it is. */
ingot_status_t account_add(struct account *account, uint64_t bytes);
/* Subtracts an entry that was removed. */
void account_subtract(struct account *account, uint64_t bytes);

/* Reads size.txt without a lock. Returns false if it has no number of bytes. */
bool account_peek(const struct root *root, const char *name_space, struct account_total *total);
/* Returns the time at which size.txt was last modified, or 0. */
uint64_t account_written_ns(const struct root *root, const char *name_space);
/* Writes the total to size.txt. The account must be locked. */
ingot_status_t account_set(struct account *account, uint64_t bytes, uint64_t entry_count);
/* Corrects size.txt after a count without the lock. `before` is the result of account_peek before the count. Keeps a
 * total that only differs because of what other threads and processes stored or removed during the count. If in doubt,
 * sets one that is too high, because only that leads to another count. */
ingot_status_t account_correct(const struct root *root, const char *name_space, const struct account_total *before,
                               uint64_t bytes, uint64_t entry_count);

/* Parses a line of size.txt: digits, followed only by spaces and line feeds. */
bool account_parse(size_t size, const char *text, uint64_t *number);
/* Writes "[<namespace>/]<name>". */
void account_path(char path[PATH_CAPACITY], const char *name_space, const char *name);

#endif
