/*
 * account.h - the lock of a namespace, and what it holds: its index, and the total of it in size.txt.
 *
 * Whatever puts an entry in its place or takes one away does so between account_begin and account_end, and between a
 * begin and an end of its own, so that a process that is killed in the middle leaves a note of what it was doing. The
 * next account_begin completes or undoes that.
 */
#ifndef INGOT_PERSIST_DIRECTORY_LAYOUT_ACCOUNT_H
#define INGOT_PERSIST_DIRECTORY_LAYOUT_ACCOUNT_H

#include "persist/directory/format/index.h"
#include "persist/directory/layout/account_files.h"

/* Returns the moment at which waiting for locks ends, on the clock of files_steady_clock_ns. */
uint64_t account_deadline(const struct directory *directory);

/* A namespace, locked. */
struct account {
    struct directory *directory;
    const char *name_space;
    struct open_account_files open;
    struct index_header header;
    struct index_place place; /* of the entry that is being changed */
    uint64_t replaced_bytes;  /* of the record that is in that place */
    bool is_replacing;
    uint64_t pages_before;
    bool is_changed;       /* the header is to be written */
    bool is_total_changed; /* and size.txt */
    bool may_write;        /* false: files may not be as large as the index, so entries are taken away without being
                              accounted for */
    bool may_grow;         /* false: nor by a page larger, so pages become fuller */
};

/* Locks and reads. INGOT_BUSY: not in time. With a deadline in the past it takes the lock only if that is free. */
ingot_status_t account_begin(struct directory *directory, const char *name_space, uint64_t deadline_ns,
                             struct account *account);
/* Writes what has changed, and unlocks. */
void account_end(struct account *account);

/* True if so many more bytes of so many more entries are within the store's limits. */
bool account_has_room(const struct account *account, uint64_t bytes, uint64_t entry_count);

/* Notes that an entry is about to be put in its place. end: it is in its place. cancel: that entry was not put
 * there, or one that was to be taken away still is there. */
ingot_status_t account_begin_adding(struct account *account, const struct index_record *record);
void account_end_adding(struct account *account);
/* The same for an entry that is about to be taken away, whether it has a record or not. */
void account_begin_removing(struct account *account, uint64_t bucket, uint32_t number);
void account_end_removing(struct account *account);
void account_cancel(struct account *account);

/* Accounts for an entry that is there without a record. */
ingot_status_t account_adopt(struct account *account, const struct index_record *record);
/* Sets the totals to what the records say. */
ingot_status_t account_sum_up(struct account *account);

/* Reads the total in size.txt, without a lock. */
bool account_peek(const struct directory *directory, const char *name_space, uint64_t *total_bytes);

/* Parses a size.txt: digits, then nothing but spaces and line feeds. */
bool account_parse(size_t size, const char *text, uint64_t *total_bytes);

#endif
