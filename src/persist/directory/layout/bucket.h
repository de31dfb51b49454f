/*
 * bucket.h - finds the entry of an id in its bucket, and removes entries.
 *
 * A bucket is the directory of all entries whose ids have the same hash.
 */
#ifndef INGOT_PERSIST_DIRECTORY_LAYOUT_BUCKET_H
#define INGOT_PERSIST_DIRECTORY_LAYOUT_BUCKET_H

#include "persist/directory/format/entry.h"
#include "persist/directory/layout/account.h"

/* The entries of a bucket have numbers below this one. A bucket rarely has more than one entry, because the hashes have
 * 64 bits. */
#define BUCKET_MAX_ENTRIES 64u

/* The result of a search for an id: its bucket, and the entry in it that was found. */
struct bucket {
    char path[PATH_CAPACITY]; /* the bucket's path, below the root */
    uint64_t hash;            /* the hash of the id, which is the bucket's name */
    uint32_t number;          /* this field and the next three describe the entry that was found */
    uint64_t inode;
    uint64_t bytes;
    struct entry_kernel kernel; /* its kernel.bin; set only if the search kept it open */
    bool is_there;              /* true if the bucket exists and can be trusted */
    bool is_stale;              /* true if another machine deleted something while the search used it */
};

/*
 * Searches for an id, and copies its blob out unless `blob` is NULL. Removes bad entries that it finds. With
 * keeps_kernel, and after INGOT_SUCCESS, the caller closes bucket->kernel.fd. Returns INGOT_NOT_FOUND, or the first
 * reason why an entry that might have this id was refused.
 */
ingot_status_t bucket_find(const struct root *root, size_t id_size, const uint8_t *id, struct bucket *bucket,
                           ingot_buffer_t *blob, enum blob_check check, bool keeps_kernel);

/*
 * Makes a network file system ask its server about a bucket, the directories above it, and the names in it. Such a file
 * system answers from a cache. A name that was missing when it was last looked up stays missing for up to a minute, and
 * the name of a file that was replaced leads to the old file, which the server has deleted (ESTALE). Called where a
 * wrong answer would cost a compilation or spoil the account. On a local file system, asking costs a few microseconds.
 */
void bucket_refresh(const struct root *root, const char *bucket_path);

/* Checks the bucket's directory. Returns INGOT_NOT_FOUND, INGOT_UNTRUSTED or INGOT_IO_ERROR on failure. */
ingot_status_t bucket_examine(const struct root *root, const char *bucket_path);

/* Moves an entry of the account's namespace to tmp, and sets `aside` to its new path. If it cannot be moved, because it
 * is part of a container's image, deletes it instead, and nothing is at the path in `aside`. Returns INGOT_NOT_FOUND if
 * there is no such entry, or if `inode` is not 0 and the entry has another inode. Returns INGOT_IO_ERROR or another
 * status if the entry could not be moved. */
ingot_status_t bucket_put_aside(struct account *account, uint64_t hash, uint32_t number, uint64_t inode,
                                char aside[PATH_CAPACITY]);

/* Removes an entry: takes the lock, calls bucket_put_aside, and deletes the entry from tmp. */
ingot_status_t bucket_take_away(const struct root *root, const char *name_space, uint64_t hash, uint32_t number,
                                uint64_t inode, uint64_t deadline_ns);

#endif
