/*
 * temporary.c - manages the directory tmp, where entries are prepared, and where they are moved before they are
 * deleted.
 *
 * Nothing in tmp is ever loaded, so leftovers only take space. What a process prepares or moves there is gone after
 * some milliseconds, so what was there for more than an hour when tmp was last written to is a leftover of a process
 * that was killed. If its process was only stopped, storing fails when it goes on. Both times are the file system's:
 * this machine's clock may differ from a file server's.
 */
#include "persist/directory/temporary.h"

#include <errno.h>
#include <ingot/backend.h>

#include "persist/base/files.h"
#include "persist/base/kept_error.h"
#include "persist/directory/format/entry.h"
#include "util/process_number.h"

#define TEMPORARY PATHS_TEMPORARY
#define ATTEMPTS 16
#define LEFTOVER_AGE_NS (3600 * NS_PER_SECOND)

/* Closes tmp to other users, and gives its owner the access that a umask has taken away. Nothing in it is ever loaded,
 * so it may be repaired without looking into it. Leaves a store alone that its owner made read-only. */
static void repair_tmp(const struct root *root, struct file_facts *facts)
{
    struct file_facts of_root;
    if (files_facts(root->fd, &of_root) == 0 && (of_root.mode & 0200) != 0 &&
        files_make_private(root->fd, TEMPORARY) == 0)
        (void)files_facts_at(root->fd, TEMPORARY, facts);
}

ingot_status_t temporary_ready(const struct root *root)
{
    struct file_facts facts;
    int result = files_facts_at(root->fd, TEMPORARY, &facts);
    if (result == -ENOENT) {
        result = files_make_directory(root->fd, TEMPORARY);
        if (result == 0 || result == -EEXIST)
            result = files_facts_at(root->fd, TEMPORARY, &facts);
    }
    if (result < 0)
        return files_write_failed(result, "making", TEMPORARY);
    if (facts.is_directory && (facts.mode & 0722) != 0700)
        repair_tmp(root, &facts);
    if (!facts.is_directory || !files_are_private(&facts, root->directory->owner))
        return files_untrusted(&facts, true, root->directory->owner, TEMPORARY);
    return INGOT_SUCCESS;
}

/* What a store prepares or takes gets random names, which other processes are unlikely to choose. The next entries of
 * the thread get the numbers after it, because each random number costs a system call. A forked child has the number of
 * its parent, and must not continue with it. */
static uint64_t next_number(bool is_first)
{
    static _Thread_local uint64_t number;
    static _Thread_local unsigned long process;
    number = is_first || process != process_number() ? files_random() : number + 1;
    process = process_number();
    return number;
}

ingot_status_t temporary_make(const struct root *root, const char *shard_path, char path[PATH_CAPACITY])
{
    const char *parent = shard_path != NULL ? shard_path : TEMPORARY;
    const bool has_stored = atomic_load_explicit(&root->directory->has_stored, memory_order_relaxed);
    ingot_status_t status = shard_path == NULL && !has_stored ? temporary_ready(root) : INGOT_SUCCESS;
    int result = -EEXIST;
    for (int i = 0; i < ATTEMPTS && status == INGOT_SUCCESS && (result == -EEXIST || result == -ENOENT); ++i) {
        paths_temporary(path, parent, next_number(i != 0));
        if (i != 0 && result == -ENOENT && (shard_path != NULL || temporary_ready(root) != INGOT_SUCCESS))
            break;
        result = has_stored ? files_make_directory_as_is(root->fd, path) : files_make_directory(root->fd, path);
    }
    if (status == INGOT_SUCCESS && result < 0)
        status = files_write_failed(result, "making", path);
    return status;
}

/* Deletes an entry where it is. key.bin is removed first: if the process ends right after that, the rest counts as a
 * bad entry. */
static int delete_in_place(const struct root *root, const char *path)
{
    char file[PATH_CAPACITY];
    paths_join(file, path, "key.bin");
    int result = files_remove(root->fd, file);
    if (result < 0 && result != -ENOENT)
        return result;
    paths_join(file, path, "kernel.bin");
    (void)files_remove(root->fd, file);
    result = files_remove_directory(root->fd, path);
    return result == -ENOTEMPTY || result == -EEXIST ? files_remove_tree(root->fd, path) : result;
}

int temporary_take(const struct root *root, const char *path, char aside[PATH_CAPACITY])
{
    paths_temporary(aside, TEMPORARY, next_number(false));
    int result = files_rename(root->fd, path, root->fd, aside);
    if (result == -EEXIST || result == -ENOTEMPTY) {
        paths_temporary(aside, TEMPORARY, next_number(true));
        result = files_rename(root->fd, path, root->fd, aside);
    }
    if (result == 0 || result != -EXDEV)
        return result;
    aside[0] = '\0';
    return delete_in_place(root, path);
}

void temporary_delete(const struct root *root, const char *path)
{
    char file[PATH_CAPACITY];
    const int at = root->fd;
    if (path[0] == '\0')
        return;
    paths_join(file, path, "key.bin");
    (void)files_remove(at, file);
    paths_join(file, path, "kernel.bin");
    (void)files_remove(at, file);
    const int result = files_remove_directory(at, path);
    if (result == -ENOTEMPTY || result == -EEXIST || result == -ENOTDIR)
        (void)files_remove_tree(at, path);
}

struct reclaim {
    const struct root *root;
    bool is_removing;
    uint64_t modified_ns; /* when tmp was last written to */
    struct leftovers found;
};

/* The time of change is used, because an entry that is moved to tmp keeps the time at which it was modified. */
static bool is_leftover(const struct root *root, const char *path, uint64_t written_ns)
{
    struct file_facts facts;
    return files_facts_at(root->fd, path, &facts) == 0 && facts.changed_ns < written_ns &&
           written_ns - facts.changed_ns > LEFTOVER_AGE_NS;
}

/* Deletes a leftover. Gives it another name first, so that a process that goes on does not publish it half deleted. If
 * it came with a container's image, it cannot be renamed, and no such process exists. */
static void delete_leftover(const struct root *root, const char *parent, const char *path)
{
    char own[PATH_CAPACITY];
    struct kept_error kept;
    kept_error_save(&kept);
    paths_temporary(own, parent, files_random());
    const int result = files_rename(root->fd, path, root->fd, own);
    if (result == 0 || result == -EXDEV)
        temporary_delete(root, result == 0 ? own : path);
    kept_error_restore(&kept);
}

static bool reclaim_one(void *user, const char *name)
{
    struct reclaim *reclaim = user;
    char path[PATH_CAPACITY];
    if (!paths_is_temporary(name))
        return true;
    paths_join(path, TEMPORARY, name);
    if (!is_leftover(reclaim->root, path, reclaim->modified_ns))
        return true;
    ++reclaim->found.count;
    reclaim->found.bytes += entry_bytes(reclaim->root->fd, path, NULL);
    if (reclaim->is_removing)
        delete_leftover(reclaim->root, TEMPORARY, path);
    return true;
}

void temporary_reclaim_from_shard(const struct root *root, const char *shard_path, const char *name,
                                  uint64_t written_ns)
{
    char path[PATH_CAPACITY];
    paths_join(path, shard_path, name);
    if (root->directory->is_read_only || !is_leftover(root, path, written_ns))
        return;
    counters_add(&root->directory->counters, COUNTER_LEFTOVERS, 1);
    counters_add(&root->directory->counters, COUNTER_LEFTOVER_BYTES, entry_bytes(root->fd, path, NULL));
    delete_leftover(root, shard_path, path);
}

struct leftovers temporary_reclaim(const struct root *root, bool is_removing)
{
    struct reclaim reclaim = {.root = root, .is_removing = is_removing};
    struct file_facts facts;
    if (files_facts_at(root->fd, TEMPORARY, &facts) < 0 || !facts.is_directory ||
        !files_are_private(&facts, root->directory->owner))
        return reclaim.found;
    reclaim.modified_ns = facts.modified_ns;
    (void)files_list(root->fd, TEMPORARY, reclaim_one, &reclaim);
    if (is_removing) {
        counters_add(&root->directory->counters, COUNTER_LEFTOVERS, reclaim.found.count);
        counters_add(&root->directory->counters, COUNTER_LEFTOVER_BYTES, reclaim.found.bytes);
    }
    return reclaim.found;
}
