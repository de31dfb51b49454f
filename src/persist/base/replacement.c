/*
 * replacement.c - writes a new file that replaces another one when it is complete.
 *
 * Until the new file is complete, it has a name that is always the same, so killed processes leave at most one
 * incomplete file. The process that writes the file holds a lock on it. The lock belongs to the file and not to its
 * name: by the time a process has the lock, another process may already have renamed the file. Then the process that
 * has the lock must not write to the file. If the file has a second name (a hard link), that process does not write to
 * it either, but only removes the temporary name.
 */
#include "persist/base/base.h"

#include <errno.h>
#include <ingot/backend.h>
#include <string.h>

#define ATTEMPTS 16
#define LOCK_BYTE 0u

/* Empties the new file if replacement->new_name is still a name of the file, and its only one. Otherwise returns
 * -EEXIST, and the caller tries again. */
static int empty_new_file(const struct replacement *replacement, int fd, const struct file_facts *opened)
{
    struct file_facts named;
    if (files_facts_at(replacement->parent, replacement->new_name, &named) != 0 || named.inode != opened->inode ||
        named.device != opened->device)
        return -EEXIST; /* another process has already renamed it */
    if (named.link_count <= 1)
        return files_truncate(fd, 0);
    const int removed = files_remove(replacement->parent, replacement->new_name); /* the file also has another name */
    return removed < 0 ? removed : -EEXIST;
}

static int open_locked_replacement(const struct replacement *replacement)
{
    for (int i = 0; i < ATTEMPTS; ++i) {
        struct file_facts opened;
        const int fd = files_open_update(replacement->parent, replacement->new_name);
        if (fd < 0)
            return fd;
        int result = files_facts(fd, &opened);
        if (result == 0 && (!opened.is_file || !files_are_private(&opened, files_user())))
            result = -ELOOP;
        if (result == 0)
            result = files_set_lock(fd, LOCK_BYTE, FILES_LOCK_EXCLUSIVE);
        if (result == 0)
            result = empty_new_file(replacement, fd, &opened);
        if (result == 0)
            return fd;
        (void)files_close(fd);
        if (result != -EEXIST)
            return result;
    }
    return -EAGAIN;
}

ingot_status_t replacement_begin(struct replacement *replacement, const char *path)
{
    static const char suffix[] = ".new";
    const char *name;
    *replacement = (struct replacement){.parent = -1, .fd = -1};
    const int parent = files_open_parent(path, &name);
    if (parent < 0)
        return parent == -ENOENT ? files_read_failed(parent, "opening the directory of", path)
                                 : files_write_failed(parent, "opening the directory of", path);
    const size_t length = strlen(name);
    if (length == 0 || length + sizeof(suffix) > sizeof(replacement->new_name)) {
        (void)files_close(parent);
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "the name of %s is empty or too long", path);
    }
    replacement->parent = parent;
    memcpy(replacement->name, name, length + 1);
    memcpy(replacement->new_name, name, length);
    memcpy(replacement->new_name + length, suffix, sizeof(suffix));
    replacement->fd = open_locked_replacement(replacement);
    if (replacement->fd >= 0)
        return INGOT_SUCCESS;
    const ingot_status_t status = files_write_failed(replacement->fd, "making", replacement->new_name);
    (void)files_close(parent);
    return status;
}

ingot_status_t replacement_write(const struct replacement *replacement, uint64_t offset, size_t size, const void *bytes)
{
    if (offset + size > files_size_limit())
        return files_write_failed(-EFBIG, "writing", replacement->new_name);
    const int result = files_write(replacement->fd, offset, size, bytes);
    return result < 0 ? files_write_failed(result, "writing", replacement->new_name) : INGOT_SUCCESS;
}

ingot_status_t replacement_end(struct replacement *replacement, ingot_status_t status)
{
    if (status == INGOT_SUCCESS) {
        const int result =
            files_rename(replacement->parent, replacement->new_name, replacement->parent, replacement->name);
        if (result < 0)
            status = files_write_failed(result, "renaming", replacement->new_name);
    }
    if (status != INGOT_SUCCESS)
        (void)files_remove(replacement->parent, replacement->new_name);
    (void)files_close(replacement->fd);
    (void)files_close(replacement->parent);
    return status;
}
