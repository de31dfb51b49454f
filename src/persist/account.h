/*
 * account.h - the locks of a store, and the total in size.txt.
 */
#ifndef INGOT_PERSIST_ACCOUNT_H
#define INGOT_PERSIST_ACCOUNT_H

#include "persist/directory.h"

/* When waiting for locks is to end, as files_steady_clock_ns counts. */
uint64_t account_deadline(const struct directory *directory);

/* The total, under the lock of byte 0. */
struct account {
    struct account_files files;
    struct account_files *kept; /* where the files stay open until the next use; NULL: they are closed */
    bool is_too_long; /* more in size.txt than is overwritten */
    bool is_known;    /* false: size.txt says nothing, the entries have to be counted */
    uint64_t total_bytes;
};

/* Locks and reads. INGOT_BUSY: not in time. A deadline in the past: only if it can be had at once. */
ingot_status_t account_begin(struct directory *directory, uint64_t deadline_ns, struct account *account);

/* Adding saturates; subtracting more than there is makes the total unknown. */
void account_add(struct account *account, uint64_t bytes);
void account_subtract(struct account *account, uint64_t bytes);

/* Whether so many bytes more are within the store's limit; false where the total is unknown. */
bool account_has_room(const struct directory *directory, const struct account *account, uint64_t bytes);

/* Writes the total, or that it is unknown; failures are left to the next count. end unlocks. */
void account_write(const struct account *account);
void account_end(struct account *account);

/* What size.txt says, without a lock. */
bool account_peek(const struct directory *directory, uint64_t *total_bytes);

/* Closes what was kept open; nobody may be at the store any more. */
void account_fini(struct directory *directory);

/* The one who counts and evicts, byte 1; taken before byte 0. Returns a descriptor for unlock_survey. */
ingot_status_t account_lock_survey(const struct directory *directory, uint64_t deadline_ns, int *lock_fd);
void account_unlock_survey(int lock_fd);

/* A size.txt: digits, then nothing but spaces and line feeds. */
bool account_parse(size_t size, const char *text, uint64_t *total_bytes);

#endif
