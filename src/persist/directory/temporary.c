/*
 * temporary.c - names directories in a shard while they are no entries; see temporary.h.
 *
 * Nothing under such a name is ever loaded, so leftovers only take space. What a process prepares or moves aside is
 * gone after some milliseconds, so what was there for more than an hour when the shard was last written to is a
 * leftover of a process that was killed. If its process was only stopped, it prepares the entry again when it goes on.
 * Both times are the file system's: this machine's clock may differ from a file server's.
 */
#include "persist/directory/temporary.h"

#include <errno.h>
#include <string.h>

#include "persist/base/files.h"
#include "persist/base/kept_error.h"
#include "persist/directory/format/entry.h"

#define ATTEMPTS 16u
#define LEFTOVER_AGE_NS (3600 * NS_PER_SECOND)

int temporary_make(const struct root *root, const char *shard_path, char path[PATH_CAPACITY])
{
    int result = -EEXIST;
    for (unsigned i = 0; i < ATTEMPTS && result == -EEXIST; ++i) {
        paths_temporary(path, shard_path, files_random());
        result = files_make_directory(root->fd, path);
    }
    return result;
}

/* Deletes a directory with the files of an entry. key.bin is removed first: if the process ends right after that, the
 * rest counts as a bad entry. Returns 0 or a negated errno. */
static int delete_directory(const struct root *root, const char *path)
{
    char file[PATH_CAPACITY];
    paths_join(file, path, "key.bin");
    int result = files_remove(root->fd, file);
    if (result < 0 && result != -ENOENT && result != -ENOTDIR)
        return result;
    paths_join(file, path, "kernel.bin");
    (void)files_remove(root->fd, file);
    result = files_remove_directory(root->fd, path);
    return result == -ENOTEMPTY || result == -EEXIST || result == -ENOTDIR ? files_remove_tree(root->fd, path) : result;
}

int temporary_take(const struct root *root, const char *path, char aside[PATH_CAPACITY])
{
    char shard[PATH_CAPACITY];
    const size_t length = (size_t)(strrchr(path, '/') - path);
    memcpy(shard, path, length);
    shard[length] = '\0';
    int result = -EEXIST;
    for (unsigned i = 0; i < ATTEMPTS && (result == -EEXIST || result == -ENOTEMPTY); ++i) {
        paths_temporary(aside, shard, files_random());
        result = files_rename(root->fd, path, root->fd, aside);
    }
    if (result != -EXDEV)
        return result;
    aside[0] = '\0';
    return delete_directory(root, path);
}

void temporary_delete(const struct root *root, const char *path)
{
    if (path[0] != '\0')
        (void)delete_directory(root, path);
}

bool temporary_reclaim(const struct root *root, const char *shard_path, const char *name, uint64_t written_ns,
                       bool is_removing, uint64_t *bytes)
{
    char path[PATH_CAPACITY];
    char own[PATH_CAPACITY];
    struct file_facts facts;
    struct kept_error kept;
    if (!paths_is_temporary(name))
        return false;
    paths_join(path, shard_path, name);
    /* the time of change, because an entry that is moved aside keeps the time at which it was modified */
    if (files_facts_at(root->fd, path, &facts) < 0 || facts.changed_ns >= written_ns ||
        written_ns - facts.changed_ns <= LEFTOVER_AGE_NS)
        return false;
    *bytes = entry_bytes(root->fd, path, NULL);
    if (!is_removing)
        return true;
    kept_error_save(&kept);
    counters_add(&root->directory->counters, COUNTER_LEFTOVERS, 1);
    /* It gets another name first, so that a process that goes on does not publish it half deleted. If it came with a
     * container's image, it cannot be renamed, and no such process exists. */
    paths_temporary(own, shard_path, files_random());
    const int result = files_rename(root->fd, path, root->fd, own);
    if (result == 0 || result == -EXDEV)
        temporary_delete(root, result == 0 ? own : path);
    kept_error_restore(&kept);
    return true;
}
