/*
 * account.h - keeps the account of a namespace in size.txt: the bytes and the number of its entries.
 *
 * To put an entry in its place or to remove one, a thread calls account_begin first and account_end last, so that a
 * small store can be counted while nothing changes. A store that stores much puts most entries in their places without
 * the lock, and owes them to the account; so does one that did not get the lock in time.
 */
#ifndef INGOT_PERSIST_DIRECTORY_ACCOUNT_H
#define INGOT_PERSIST_DIRECTORY_ACCOUNT_H

#include "persist/directory/state.h"

struct account_total {
    uint64_t bytes;
    uint64_t entry_count;
    bool is_known; /* false: size.txt is missing, damaged, or of another version */
};

/* A namespace's totals of bytes and entries, whose file size.txt is locked. */
struct account {
    const struct root *root;
    int fd; /* size.txt */
    bool is_long;
    struct account_total total;
};

/* Returns the sum, or UINT64_MAX if that is larger. */
static inline uint64_t account_sum(uint64_t a, uint64_t b)
{
    return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

/* Returns the time until which to wait for locks, on the clock of files_steady_clock_ns. */
uint64_t account_deadline(const struct directory *directory);

/* Locks the account, reads it, and adds what this store owes. Returns INGOT_BUSY if the lock was not free by the
 * deadline. A deadline in the past means not to wait at all. */
ingot_status_t account_begin(const struct root *root, const char *name_space, uint64_t deadline_ns,
                             struct account *account);
void account_end(struct account *account);

/* Writes the total to size.txt, unless it is there already. The account must be locked. */
ingot_status_t account_set(struct account *account, uint64_t bytes, uint64_t entry_count);
/* Makes the total unknown, so that the next store counts the entries. */
ingot_status_t account_forget(struct account *account);
/* Adds an entry that is about to be put in its place. If the process is killed before that, the total is too high until
 * an eviction corrects it. A total that is not known stays as it is. If the store stores much, allows it to owe further
 * entries. */
ingot_status_t account_add(struct account *account, uint64_t bytes);

/* True if this store may put an entry in its place without the lock, and owe it to the account. is_urgent: the lock was
 * not free in time; the caller then looks for room. */
bool account_may_owe(const struct directory *directory, uint64_t bytes, bool is_urgent);
/* Notes an entry that was put in its place without the lock, for the next account_begin. If the process is killed
 * before that, the total is too low until an eviction corrects it. */
void account_owe(struct directory *directory, uint64_t bytes, uint64_t entry_count);
/* Adds what is owed. Called before the store is closed. */
void account_settle(struct directory *directory);

/* Subtracts entries that were removed. If that fails, the total is too high until an eviction corrects it. */
void account_subtract(struct account *account, uint64_t bytes, uint64_t entry_count);

/* Reads size.txt without a lock. Returns false if it has no totals. */
bool account_peek(const struct root *root, const char *name_space, struct account_total *total);
/* Does the same for the store's own namespace, and adds what this store owes. */
bool account_peek_own(const struct root *root, struct account_total *total);
/* Corrects size.txt after a count without the lock. `before` is the result of account_peek before the count. Keeps
 * totals that other threads and processes changed during the count, because it may have missed what they stored. */
ingot_status_t account_correct(const struct root *root, const char *name_space, const struct account_total *before,
                               uint64_t bytes, uint64_t entry_count);

/* Parses a line of size.txt: digits, followed only by spaces and line feeds. */
bool account_parse(size_t size, const char *text, uint64_t *number);

#endif
