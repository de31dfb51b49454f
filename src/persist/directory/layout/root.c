/*
 * root.c - opens the root, the directory that contains a store.
 *
 * The root is opened once, and everything else is opened relative to it. If another directory gets the root's path
 * later, the store keeps working in the directory that it opened. If that directory is deleted, the store resolves the
 * path again, because a user who deletes a cache wants it to be empty, not off. The new directory replaces the old one
 * under the same descriptor, so other threads do not notice. The application may have closed the descriptor. Therefore,
 * each operation that writes checks it first, and opens the path again if necessary.
 */
#include "persist/directory/layout/root.h"

#include <errno.h>
#include <fcntl.h>
#include <ingot/backend.h>
#include <string.h>

#include "persist/base/files.h"
#include "persist/base/memory.h"
#include "persist/directory/layout/temporary.h"
#include "persist/storage/serving.h"

#define ROOT_PATH_MAX 4096u

enum kept_state {
    KEPT_OPEN,
    KEPT_DELETED, /* it is open, but has no name anymore */
    KEPT_LOST     /* there is no descriptor, or it is not Ingot's anymore */
};

/* Examines the directory. Sets `facts` unless it is lost. Returns 0 or a negated errno. */
static int examine_kept_directory(const struct kept_directory *kept, enum kept_state *state, struct file_facts *facts)
{
    const int fd = atomic_load_explicit(&kept->fd, memory_order_acquire);
    const int result = fd >= 0 ? files_facts(fd, facts) : -EBADF;
    *state = KEPT_OPEN;
    if (result == -EBADF)
        *state = KEPT_LOST;
    else if (result == -ESTALE)
        *state = KEPT_DELETED;
    else if (result < 0)
        return result;
    else if (facts->device != atomic_load_explicit(&kept->device, memory_order_relaxed) ||
             facts->inode != atomic_load_explicit(&kept->inode, memory_order_relaxed))
        *state = KEPT_LOST;
    else if (facts->link_count == 0)
        *state = KEPT_DELETED;
    return 0;
}

static bool is_lost(const struct kept_directory *kept)
{
    enum kept_state state;
    struct file_facts facts;
    return examine_kept_directory(kept, &state, &facts) == 0 && state == KEPT_LOST;
}

/* Keeps the directory of `fd` instead, and takes over `fd` even if this fails. Returns 0 or a negated errno. Requires
 * the lock of the root. */
static int replace_kept_directory(struct kept_directory *kept, int fd)
{
    struct file_facts facts;
    int result = files_facts(fd, &facts);
    /* a lost descriptor may have the number that `fd` just got */
    const bool was_lost = fd == atomic_load_explicit(&kept->fd, memory_order_relaxed) || is_lost(kept);
    if (result == 0 && !was_lost)
        result = files_replace(fd, atomic_load_explicit(&kept->fd, memory_order_relaxed));
    if (result >= 0) {
        atomic_store_explicit(&kept->device, facts.device, memory_order_relaxed);
        atomic_store_explicit(&kept->inode, facts.inode, memory_order_relaxed);
    }
    if (result >= 0 && was_lost)
        atomic_store_explicit(&kept->fd, fd, memory_order_release);
    else
        (void)files_close(fd);
    return result < 0 ? result : 0;
}

static const char cache_tag[] = "Signature: 8a477f597d28d172789f06886806bc55\n"
                                "# This directory holds compiled device programs that can be compiled again.\n"
                                "# What this file is for: https://bford.info/cachedir/\n";

/* Marks the root as a cache directory, and deletes leftovers in tmp. Ignores failures: loads need neither step, and if
 * the directory cannot be written to, storing the first blob reports that. */
static void furnish_store_root(struct directory *directory)
{
    const int tag = files_create(directory->root.fd, "CACHEDIR.TAG");
    if (tag >= 0) {
        if (files_may_grow_to(sizeof(cache_tag) - 1))
            (void)files_write(tag, sizeof(cache_tag) - 1, cache_tag);
        (void)files_close(tag);
    }
    (void)temporary_reclaim(directory, true);
}

/* Copies the path to directory->path, and makes it absolute. Removes trailing slashes, because they would make the
 * kernel follow a link. */
static ingot_status_t copy_root_path(struct directory *directory, const char *path)
{
    const ingot_status_t status = files_absolute(path, &directory->allocator, &directory->path, &directory->path_size);
    size_t length = status == INGOT_SUCCESS ? strlen(directory->path) : 0;
    if (length >= ROOT_PATH_MAX)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "info's path is too long");
    while (length > 1 && directory->path[length - 1] == '/')
        directory->path[--length] = '\0';
    return status;
}

static ingot_status_t parent_is_missing(const char *path)
{
    return ingot_set_error(INGOT_NOT_FOUND, ENOENT, "the parent directory of %s is missing", path);
}

static bool has_parent(const char *path)
{
    const char *name;
    const int parent = files_open_parent(path, &name);
    if (parent >= 0)
        (void)files_close(parent);
    return parent != -ENOENT;
}

/* Some file systems, such as /proc, report it like this if they make no directories. */
static ingot_status_t allows_no_directories(const char *path)
{
    return ingot_set_error(INGOT_READ_ONLY, ENOENT, "%s cannot be made: its parent allows no new directories", path);
}

/* Explains why the root is not a directory. */
static ingot_status_t not_a_directory(const char *path, int error)
{
    struct file_facts facts;
    return files_facts_at(AT_FDCWD, path, &facts) == 0 ? files_untrusted(&facts, true, files_user(), path)
                                                       : files_read_failed(error, "opening", path);
}

static ingot_status_t open_or_make(const struct directory *directory, int *root)
{
    const char *path = directory->path;
    *root = files_open_root(path);
    if (*root == -ENOENT) {
        if (directory->is_read_only && !has_parent(path))
            return parent_is_missing(path);
        if (directory->is_read_only)
            return ingot_set_error_detail(INGOT_READ_ONLY, "%s is missing and must not be created", path);
        *root = files_make_root(path, directory->makes_parents);
        if (*root == -ENOENT)
            return has_parent(path) ? allows_no_directories(path) : parent_is_missing(path);
        if (*root < 0) {
            (void)files_write_failed(*root, "making", path);
            return *root == -ENOMEM ? INGOT_OUT_OF_MEMORY : INGOT_READ_ONLY;
        }
    }
    if (*root == -ENOTDIR || *root == -ELOOP)
        return not_a_directory(path, *root);
    return *root < 0 ? files_read_failed(*root, "opening", path) : INGOT_SUCCESS;
}

/* Returns the user that must own everything in the store. Root may own a read-only store, because it may be installed
 * with the system. If all blobs must be sealed, the owner does not matter. */
static uint32_t owner_of(const struct directory *directory, const struct file_facts *facts)
{
    if (directory->accepts_any_owner)
        return FILES_ANY_USER;
    return directory->is_read_only && facts->owner == 0 ? 0 : files_user();
}

static ingot_status_t open_trusted(const struct directory *directory, int *root, uint32_t *owner)
{
    ingot_status_t status = open_or_make(directory, root);
    if (status != INGOT_SUCCESS)
        return status;
    struct file_facts facts = {0};
    const int result = files_facts(*root, &facts);
    if (result < 0)
        status = files_read_failed(result, "examining", directory->path);
    else if (!files_are_private(&facts, owner_of(directory, &facts)))
        status = files_untrusted(&facts, true, files_user(), directory->path);
    *owner = owner_of(directory, &facts);
    if (status != INGOT_SUCCESS)
        (void)files_close(*root);
    return status;
}

ingot_status_t root_init(struct directory *directory, const ingot_persist_info_t *info)
{
    int root;
    atomic_init(&directory->root.fd, -1);
    ingot_status_t status = copy_root_path(directory, info->path);
    if (status != INGOT_SUCCESS)
        return status;
    directory->makes_parents = (info->flags & (uint32_t)INGOT_PERSIST_MAKE_PARENTS) != 0;
    status = open_trusted(directory, &root, &directory->owner);
    if (status != INGOT_SUCCESS)
        return status;
    const int result = replace_kept_directory(&directory->root, root);
    if (result < 0)
        return files_read_failed(result, "examining", directory->path);
    if (!directory->is_read_only)
        furnish_store_root(directory);
    return INGOT_SUCCESS;
}

void root_fini(struct directory *directory)
{
    if (!is_lost(&directory->root))
        (void)files_close(atomic_load_explicit(&directory->root.fd, memory_order_relaxed));
    memory_free(&directory->allocator, directory->path, directory->path_size);
}

/* Opens the root again if it is lost or deleted. Sets *state to what it was. Returns true if it is in use now. Requires
 * the lock of the root. */
static bool open_again(struct directory *directory, enum kept_state *state)
{
    int root;
    uint32_t owner;
    struct file_facts facts;
    if (examine_kept_directory(&directory->root, state, &facts) < 0)
        return false;
    if (*state == KEPT_OPEN)
        return true; /* another thread has opened it meanwhile */
    if (open_trusted(directory, &root, &owner) != INGOT_SUCCESS)
        return false;
    if (owner != directory->owner) { /* other threads are still checking entries against the old owner */
        (void)files_close(root);
        return false;
    }
    return replace_kept_directory(&directory->root, root) == 0;
}

bool root_renew(struct directory *directory)
{
    enum kept_state state;
    struct file_facts facts;
    const uint64_t started_ns = files_steady_clock_ns();
    if (examine_kept_directory(&directory->root, &state, &facts) < 0 || state == KEPT_OPEN)
        return false;
    pthread_mutex_lock(&directory->root_lock);
    const bool is_open = open_again(directory, &state);
    pthread_mutex_unlock(&directory->root_lock);
    if (!is_open || state != KEPT_DELETED)
        return is_open;
    if (!directory->is_read_only)
        furnish_store_root(directory);
    directory_tell(directory, INGOT_EVENT_STORAGE_DEGRADED, INGOT_NOT_FOUND, 0, started_ns, directory->path,
                   "the store's directory was deleted; the store continues in a new one");
    return true;
}

ingot_status_t root_ready(struct directory *directory)
{
    if (!is_lost(&directory->root) || root_renew(directory))
        return INGOT_SUCCESS;
    return files_lost(directory->path);
}

ingot_status_t directory_get(ingot_storage_t storage, struct directory **directory)
{
    const ingot_status_t status = storage_check(storage);
    if (status != INGOT_SUCCESS)
        return status;
    *directory = directory_of(storage);
    if (*directory == NULL)
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "the storage is not a directory store");
    return root_ready(*directory);
}
