/*
 * account.h - the account of a namespace: its lock, its index, and the total in size.txt.
 *
 * Code that moves an entry into or out of its place calls account_begin before and account_end after it, and between
 * these, a begin and an end for that entry. If the process is killed in between, the header still says what it was
 * doing, and the next account_begin completes or undoes that.
 */
#ifndef INGOT_PERSIST_DIRECTORY_LAYOUT_ACCOUNT_H
#define INGOT_PERSIST_DIRECTORY_LAYOUT_ACCOUNT_H

#include "persist/directory/format/index.h"
#include "persist/directory/layout/account_files.h"

/* Returns the time at which waiting for locks ends, on the clock of files_steady_clock_ns. */
uint64_t account_deadline(const struct directory *directory);

/* A locked namespace. */
struct account {
    struct directory *directory;
    const char *name_space;
    struct open_account_files open;
    struct index_header header;
    struct index_place place; /* of the entry that is being added or removed */
    uint64_t replaced_bytes;  /* of the record at that place */
    bool is_replacing;
    uint64_t pages_before;
    bool is_changed;       /* true if the header must be written */
    bool is_total_changed; /* size.txt must be written, too */
    uint64_t file_limit;   /* the largest file that the process may write; a larger one raises a signal */
    bool may_write;        /* false: files may not be as large as the index, so entries are removed without being
                            * accounted for */
    bool may_grow;         /* false: the index may not grow by a page, so pages become fuller */
};

/* Locks the account and reads it. Returns INGOT_BUSY if the lock was not free in time. With a deadline in the past,
 * succeeds only if the lock is free. file_limit is what files_size_limit returns. */
ingot_status_t account_begin(struct directory *directory, const char *name_space, uint64_t deadline_ns,
                             uint64_t file_limit, struct account *account);
/* Writes all changes and unlocks. */
void account_end(struct account *account);

/* True if this manymore bytes in this many more entries fit the store's limits. */
bool account_has_room(const struct account *account, uint64_t bytes, uint64_t entry_count);

/* Notes that an entry is about to be put in its place. Call end when it is there, or cancel if it was not put there.
 * cancel also applies to an entry that was to be removed and still exists. */
ingot_status_t account_begin_adding(struct account *account, const struct index_record *record);
void account_end_adding(struct account *account);
/* Notes that an entry is about to be removed, whether it has a record or not. */
void account_begin_removing(struct account *account, uint64_t bucket, uint32_t number);
void account_end_removing(struct account *account);
void account_cancel(struct account *account);

/* Accounts for an entry that exists without a record. */
ingot_status_t account_adopt(struct account *account, const struct index_record *record);
/* Sets the totals to the sums of the records. */
ingot_status_t account_sum_up(struct account *account);

/* Reads the total in size.txt, without a lock. */
bool account_peek(const struct directory *directory, const char *name_space, uint64_t *total_bytes);

/* Parses a size.txt: digits, then nothing but spaces and line feeds. */
bool account_parse(size_t size, const char *text, uint64_t *total_bytes);

#endif
