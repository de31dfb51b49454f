/*
 * lookup.h - finds the entry of an id, removes entries, and names directories in a shard while they are not entries:
 * while an entry is prepared or deleted. Paths are relative to the store's root.
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

/* ---- directories that are not entries ---- */

/* Creates a directory in a shard, and sets `path` to its path. Returns 0 or a negated errno. */
int temporary_make(const struct root *root, const char *shard_path, char path[PATH_CAPACITY]);

/* Moves an entry aside in its shard, and sets `aside` to its new path. If the system does not move it (EXDEV: it is
 * part of a container's image), deletes it instead, and sets `aside` to "". Returns 0 or a negated errno. */
int temporary_take(const struct root *root, const char *path, char aside[PATH_CAPACITY]);

/* Deletes an entry that was prepared or moved aside; does nothing for "". What cannot be deleted remains as a leftover.
 */
void temporary_delete(const struct root *root, const char *path);

/* True if a killed process has left the directory with this name in a shard, which was last written to at written_ns.
 * Sets *bytes to its size. is_removing: deletes it. */
bool temporary_reclaim(const struct root *root, const char *shard_path, const char *name, uint64_t written_ns,
                       bool is_removing, uint64_t *bytes);

#endif
