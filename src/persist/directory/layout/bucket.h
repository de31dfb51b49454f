/*
 * bucket.h - finds the entry with an id in a bucket, finds a free number, and removes an entry.
 */
#ifndef INGOT_PERSIST_DIRECTORY_LAYOUT_BUCKET_H
#define INGOT_PERSIST_DIRECTORY_LAYOUT_BUCKET_H

#include "persist/directory/format/entry.h"
#include "persist/directory/layout/account.h"
#include "persist/directory/layout/state.h"

/* A search reads only this many entries of a bucket, those with the lowest numbers; 64-bit hashes rarely share a
 * bucket at all. */
#define BUCKET_MAX_ENTRIES 64u

/* The result of a search. */
struct bucket {
    char path[PATH_CAPACITY]; /* below the root */
    uint64_t hash;            /* the hash that names it */
    uint32_t number;          /* of the entry that was found */
    uint64_t inode;           /* likewise */
    uint64_t created_ns;      /* likewise */
    uint64_t last_use_ns;     /* likewise */
    bool is_full;             /* true if no number that a reader would reach is free */
};

/*
 * Searches for an id and copies its blob out; a NULL blob is not read. Removes bad entries that it finds. Returns
 * INGOT_NOT_FOUND, or the first reason why an entry that might have this id was refused.
 */
ingot_status_t bucket_find(struct directory *directory, size_t id_size, const uint8_t *id, struct bucket *bucket,
                           ingot_buffer_t *blob, enum blob_check check);

/* Checks the bucket's directory. INGOT_NOT_FOUND, INGOT_UNTRUSTED, INGOT_IO_ERROR. */
ingot_status_t bucket_examine(const struct directory *directory, const char *bucket_path);

/* Moves an entry of the account's namespace to tmp; aside is its new path. Deletes an entry that cannot be moved
 * because it is from a container's image; nothing is at aside then. inode is the one that it must still have; 0: any.
 * INGOT_NOT_FOUND: the entry does not exist. INGOT_IO_ERROR and others: it could not be moved. */
ingot_status_t bucket_put_aside(struct account *account, uint64_t hash, uint32_t number, uint64_t inode,
                                char aside[PATH_CAPACITY]);

/* Takes the lock, does the same as bucket_put_aside, and deletes the entry. */
ingot_status_t bucket_take_away(struct directory *directory, const char *name_space, uint64_t hash, uint32_t number,
                                uint64_t inode, uint64_t deadline_ns);

#endif
