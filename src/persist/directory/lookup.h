/*
 * lookup.h - finds the entry of an id, and removes entries.
 */
#ifndef INGOT_PERSIST_DIRECTORY_LOOKUP_H
#define INGOT_PERSIST_DIRECTORY_LOOKUP_H

#include "persist/directory/account.h"
#include "persist/directory/format/entry.h"

/* The result of a search for an id. */
struct lookup {
    char path[PATH_CAPACITY];   /* the place of the id's entry, below the root */
    struct checksum hash;       /* the hash of the id, which is the place in the namespace */
    uint64_t inode;             /* of the entry that was found */
    struct entry_kernel kernel; /* its kernel.bin; set only if the search kept it open */
};

/*
 * Searches for an id, and copies its blob out unless `blob` is NULL. Removes a bad entry that it finds. With
 * keeps_kernel, and after INGOT_SUCCESS, the caller closes found->kernel.fd. Returns INGOT_NOT_FOUND, also if the entry
 * there belongs to another id, or the reason why the entry was refused.
 */
ingot_status_t lookup_find(const struct root *root, size_t id_size, const uint8_t *id, struct lookup *found,
                           ingot_buffer_t *blob, bool keeps_kernel);

/*
 * Makes a network file system ask its server about an entry, and the directories above it. Such a file system answers
 * from a cache. A name that was missing when it was last looked up stays missing for up to a minute, and the name of a
 * file that was replaced leads to the old file, which the server has deleted (ESTALE). Called where a wrong answer
 * would cost a compilation. On a local file system, asking costs a few microseconds.
 */
void lookup_refresh(const struct root *root, const char *entry_path);

/* Checks the directory of an entry's shard. Returns INGOT_NOT_FOUND, INGOT_UNTRUSTED or INGOT_IO_ERROR on failure. */
ingot_status_t lookup_examine_shard(const struct root *root, const char *name_space, uint8_t shard);

/* Removes an entry. Returns INGOT_NOT_FOUND if there is no such entry, or if `inode` is not 0 and the entry has another
 * inode. Returns INGOT_IO_ERROR or another status if the entry could not be removed. */
ingot_status_t lookup_take_away(const struct root *root, const char *name_space, const struct checksum *hash,
                                uint64_t inode, uint64_t deadline_ns);

#endif
