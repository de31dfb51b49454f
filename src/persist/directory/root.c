/*
 * root.c - opens the root, the directory that contains a store.
 *
 * Each operation opens the root by its path, checks it, and opens everything else relative to it. No descriptor is kept
 * between operations, so none can be closed by the application. Whatever directory has the path is the store: a user
 * who deletes a cache wants it to be empty, not off.
 */
#include "persist/directory/state.h"

#include <errno.h>
#include <fcntl.h>
#include <ingot/backend.h>
#include <limits.h>
#include <string.h>

#include "persist/base/base.h"
#include "persist/storage/storage.h"

#define MAX_LINKS 8u
#define MOST_LOOKS 3u

static const char cache_tag[] = "Signature: 8a477f597d28d172789f06886806bc55\n"
                                "# This directory holds compiled device programs that can be compiled again.\n"
                                "# What this file is for: https://bford.info/cachedir/\n";

/* Marks the root as a cache directory. Ignores failures: loads do not need the mark, and if the directory cannot be
 * written to, storing the first blob reports that. */
static void mark_root(const struct root *root)
{
    const int tag = files_create(root->fd, "CACHEDIR.TAG", false);
    if (tag < 0)
        return;
    if (sizeof(cache_tag) - 1 <= files_size_limit())
        (void)files_write(tag, 0, sizeof(cache_tag) - 1, cache_tag);
    (void)files_close(tag);
}

/* Copies a path to directory->path, and makes it absolute. Removes trailing slashes, because they would make the kernel
 * follow a link. */
static ingot_status_t set_root_path(struct directory *directory, const char *path)
{
    const ingot_status_t status = files_absolute(path, directory->path);
    size_t length = status == INGOT_SUCCESS ? strlen(directory->path) : 0;
    while (length > 1 && directory->path[length - 1] == '/')
        directory->path[--length] = '\0';
    return status;
}

static ingot_status_t make_root(const struct directory *directory, int *fd)
{
    const char *path = directory->path;
    if (directory->is_read_only) {
        const char *name;
        *fd = files_open_parent(path, &name);
        if (*fd >= 0)
            (void)files_close(*fd);
        if (*fd != -ENOENT) {
            *fd = -1;
            return ingot_set_error_detail(INGOT_READ_ONLY, "%s is missing and must not be created", path);
        }
    } else {
        *fd = files_make_root(path, directory->makes_parents);
    }
    if (*fd == -ENOENT)
        return ingot_set_error(INGOT_NOT_FOUND, ENOENT, "the parent directory of %s is missing, or makes none", path);
    if (*fd >= 0 || *fd == -ENOTDIR || *fd == -ELOOP)
        return INGOT_SUCCESS;
    (void)files_write_failed(*fd, "making", path);
    return *fd == -ENOMEM ? INGOT_OUT_OF_MEMORY : INGOT_READ_ONLY;
}

void root_close(struct root *root)
{
    if (root->fd >= 0)
        (void)files_close(root->fd);
    root->fd = -1;
}

/* Opens the root, or creates it if it is missing and `makes` is set. Sets *facts to what it found. */
static ingot_status_t open_root(struct directory *directory, bool makes, struct root *root, struct file_facts *facts)
{
    const char *path = directory->path;
    *root = (struct root){directory, -1, 0};
    int result = -ESTALE; /* another machine has deleted it, so the path leads elsewhere now */
    for (unsigned i = 0; i < MOST_LOOKS && result == -ESTALE; ++i) {
        root_close(root);
        root->fd = files_open_place(AT_FDCWD, path);
        result = root->fd < 0 ? root->fd : files_facts(root->fd, facts);
    }
    if (result == -ENOENT && makes) {
        const ingot_status_t status = make_root(directory, &root->fd);
        if (status != INGOT_SUCCESS)
            return status;
        result = root->fd < 0 ? root->fd : files_facts(root->fd, facts);
        if (result == 0)
            mark_root(root);
    }
    if (result == -ENOTDIR || result == -ELOOP) {
        if (files_facts_at(AT_FDCWD, path, facts) < 0)
            return files_read_failed(result, "opening", path);
        if (facts->is_link)
            return ingot_set_error_detail(
                INGOT_UNTRUSTED,
                "%s is a symbolic link, which another user could lead elsewhere: only a link of "
                "this user or root, in a directory that only they can write, is followed; give "
                "the path of the directory itself (readlink -f)",
                path);
        return files_untrusted(facts, true, files_user(), path);
    }
    return result < 0 ? files_read_failed(result, "opening", path) : INGOT_SUCCESS;
}

/* Checks the root, or a directory below it. */
static ingot_status_t check_facts(const struct directory *directory, const struct file_facts *facts, const char *name)
{
    return facts->is_directory && files_are_private(facts, directory->owner)
               ? INGOT_SUCCESS
               : files_untrusted(facts, true, directory->owner, name);
}

ingot_status_t root_init(struct directory *directory, const ingot_persist_info_t *info, struct root *root)
{
    struct file_facts facts = {0};
    *root = (struct root){directory, -1, 0};
    directory->makes_parents = (info->flags & (uint32_t)INGOT_PERSIST_MAKE_PARENTS) != 0;
    ingot_status_t status = set_root_path(directory, info->path);
    if (status == INGOT_SUCCESS) {
        /* While the path names a symbolic link that only this user or the superuser can have made, replaces the path by
         * what the link names. */
        char target[PATH_MAX];
        for (unsigned i = 0; i < MAX_LINKS && status == INGOT_SUCCESS; ++i) {
            if (files_read_own_link(directory->path, target) < 0)
                break;
            status = set_root_path(directory, target);
        }
    }
    if (status == INGOT_SUCCESS)
        status = open_root(directory, true, root, &facts);
    if (status != INGOT_SUCCESS)
        return status;
    /* Root may own a read-only store, because it may be installed with the system. If all blobs must be sealed, the
     * owner does not matter. */
    directory->owner = directory->is_read_only && facts.owner == 0 ? 0 : files_user();
    if (directory->accepts_any_owner)
        directory->owner = FILES_ANY_USER;
    status = check_facts(directory, &facts, directory->path);
    if (status == INGOT_SUCCESS && !directory->is_read_only)
        mark_root(root);
    return status;
}

ingot_status_t root_open(struct directory *directory, bool makes, struct root *root)
{
    struct file_facts facts;
    const ingot_status_t status = open_root(directory, makes, root, &facts);
    return status == INGOT_SUCCESS ? check_facts(directory, &facts, directory->path) : status;
}

ingot_status_t root_open_of(ingot_storage_t storage, bool must_be_writable, struct root *root)
{
    *root = (struct root){NULL, -1, 0};
    const ingot_status_t status = storage_check(storage);
    if (status != INGOT_SUCCESS)
        return status;
    struct directory *directory = directory_of(storage);
    if (directory == NULL)
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "the storage is not a directory store");
    if (must_be_writable && directory->is_read_only)
        return ingot_set_error_detail(INGOT_READ_ONLY, "the store was opened read-only");
    return root_open(directory, true, root);
}

ingot_status_t root_check_directory(const struct root *root, const char *path)
{
    struct file_facts facts;
    const int result = files_facts_at(root->fd, path, &facts);
    return result < 0 ? files_read_failed(result, "examining", path) : check_facts(root->directory, &facts, path);
}

/* Closes shards, because each entry in one is checked by itself; a namespace, which the user has made, is not changed.
 */
ingot_status_t root_make_directory(const struct root *root, const char *path, bool closes)
{
    struct file_facts facts;
    int result = files_facts_at(root->fd, path, &facts);
    if (result == -ENOENT) {
        result = files_make_directory(root->fd, path);
        if (result == 0 || result == -EEXIST)
            result = files_facts_at(root->fd, path, &facts);
    }
    if (result == 0 && closes && facts.is_directory && (facts.mode & 0722) != 0700 &&
        files_make_private(root->fd, path) == 0)
        result = files_facts_at(root->fd, path, &facts);
    return result < 0 ? files_write_failed(result, "making", path) : check_facts(root->directory, &facts, path);
}
