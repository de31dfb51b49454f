/*
 * bucket.h - the entries of one bucket: which has an id, which number is free, and taking one away.
 */
#ifndef INGOT_PERSIST_DIRECTORY_LAYOUT_BUCKET_H
#define INGOT_PERSIST_DIRECTORY_LAYOUT_BUCKET_H

#include "persist/directory/layout/account.h"
#include "persist/directory/layout/state.h"

/* Only so many numbers of a bucket are looked at, the lowest; 64-bit hashes rarely share a bucket at all. */
#define BUCKET_MAX_ENTRIES 64u

/* What a search saw. */
struct bucket {
    char path[PATH_CAPACITY]; /* below the root */
    uint64_t hash;            /* that it is named by */
    uint32_t number;          /* of the entry that was found */
    uint64_t inode;           /* likewise */
    uint64_t created_ns;      /* likewise */
    uint64_t last_use_ns;     /* likewise */
    bool is_full;             /* no number is left that a reader would reach */
};

/*
 * Searches for an id and copies its blob out; a NULL blob is not looked at. Bad entries are taken away on the way.
 * INGOT_NOT_FOUND; else the first reason why an entry that might have been it was refused.
 */
ingot_status_t bucket_find(struct directory *directory, size_t id_size, const uint8_t *id, struct bucket *bucket,
                           ingot_buffer_t *blob);

/* Judges the bucket's directory. INGOT_NOT_FOUND, INGOT_UNTRUSTED, INGOT_IO_ERROR. */
ingot_status_t bucket_examine(const struct directory *directory, const char *bucket_path);

/* Moves an entry of the account's namespace to tmp; aside is its new path. inode: the one that it must still have; 0:
 * whichever is there. INGOT_NOT_FOUND: it is not there. INGOT_IO_ERROR and others: it could not be moved. */
ingot_status_t bucket_put_aside(struct account *account, uint64_t hash, uint32_t number, uint64_t inode,
                                char aside[PATH_CAPACITY]);

/* The same with the lock, followed by its deletion. */
ingot_status_t bucket_take_away(struct directory *directory, const char *name_space, uint64_t hash, uint32_t number,
                                uint64_t inode, uint64_t deadline_ns);

#endif
