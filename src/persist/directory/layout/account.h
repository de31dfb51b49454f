/*
 * account.h - keeps the account of a namespace: its lock, its index, and the total in size.txt.
 *
 * To add or remove entries, a thread calls account_begin first and account_end last. For each entry, it calls a begin
 * function before it moves the entry into or out of its place, and an end function afterwards. If the process is killed
 * while it moves an entry, the header still says what it was doing, and the next account_begin completes or undoes
 * that.
 */
#ifndef INGOT_PERSIST_DIRECTORY_LAYOUT_ACCOUNT_H
#define INGOT_PERSIST_DIRECTORY_LAYOUT_ACCOUNT_H

#include "persist/directory/format/index.h"
#include "persist/directory/layout/account_files.h"

/* Returns the time until which to wait for locks, on the clock of files_steady_clock_ns. */
uint64_t account_deadline(const struct directory *directory);

/* The account of a namespace, locked. */
struct account {
    struct directory *directory;
    const char *name_space;
    struct open_account_files open;
    struct index_header header;
    struct index_place place; /* the record of the entry that is being added or removed */
    uint64_t replaced_bytes;  /* size of the entry whose record was at that place */
    bool is_replacing;
    uint64_t pages_before;
    bool is_changed;       /* true if the header must be written */
    bool is_total_changed; /* true if size.txt must be written */
    uint64_t file_limit;   /* the largest file that the process may write; writing a larger one raises a signal */
    bool may_write;        /* false: the index exceeds file_limit, so removals leave it unchanged */
    bool may_grow;         /* false: another page would exceed file_limit, so the existing pages take more records */
};

/* Locks the account and reads it. Returns INGOT_BUSY if the lock was not free by the deadline. A deadline in the past
 * means not to wait at all. file_limit is the result of files_size_limit. */
ingot_status_t account_begin(struct directory *directory, const char *name_space, uint64_t deadline_ns,
                             uint64_t file_limit, struct account *account);
/* Writes all changes and releases the lock. */
void account_end(struct account *account);

/* True if entry_count more entries, with `bytes` in total, fit the store's limits. */
bool account_has_room(const struct account *account, uint64_t bytes, uint64_t entry_count);

/* Returns the size with which an entry is counted, or 0 if it is not. */
uint64_t account_size_of(const struct account *account, uint64_t bucket, uint32_t number);

/* Notes that an entry is about to be put in its place. Afterwards, call account_end_adding if the entry is in its
 * place, or account_cancel if it is not. If an entry could not be removed, account_cancel also ends the removal. */
ingot_status_t account_begin_adding(struct account *account, const struct index_record *record);
void account_end_adding(struct account *account);
/* Notes that an entry is about to be removed. The entry need not have a record. */
void account_begin_removing(struct account *account, uint64_t bucket, uint32_t number);
void account_end_removing(struct account *account);
void account_cancel(struct account *account);

/* Adds the record of an existing entry, unless the index already has it. */
ingot_status_t account_adopt(struct account *account, const struct index_record *record);
/* Sets the totals to the sums of the records. */
ingot_status_t account_sum_up(struct account *account);

/* Reads the total in size.txt, without a lock. */
bool account_peek(const struct directory *directory, const char *name_space, uint64_t *total_bytes);

/* Parses the text of a size.txt: digits, followed only by spaces and line feeds. */
bool account_parse(size_t size, const char *text, uint64_t *total_bytes);

#endif
