/*
 * lookup.h - finds the entry of an id, and removes entries.
 */
#ifndef INGOT_PERSIST_DIRECTORY_LOOKUP_H
#define INGOT_PERSIST_DIRECTORY_LOOKUP_H

#include "persist/directory/account.h"
#include "persist/directory/format/entry.h"

/* A search for an id, and its result. */
struct lookup {
    const struct root *root;
    size_t id_size;
    const uint8_t *id;
    ingot_buffer_t *blob;
    char path[PATH_CAPACITY]; /* the place of the id's entry, below the root */
    struct checksum hash;     /* the hash of the id, which is the place in the namespace */
    uint64_t inode;           /* of the entry that was found */
    uint64_t time_ns;         /* the time of this entry; set only with a blob */
};

/* Searches for an id, and copies its blob out unless `blob` is NULL. Removes a bad entry that it finds. Returns
 * INGOT_NOT_FOUND, also if the entry there belongs to another id, or the reason why the entry was refused. */
ingot_status_t lookup_find(const struct root *root, size_t id_size, const uint8_t *id, struct lookup *found,
                           ingot_buffer_t *blob);

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
