/*
 * lookup.c - finds the entry of an id, and removes entries; see entries.h.
 *
 * A search takes no lock. Before it treats an entry as damaged, it asks a network file system what other machines did.
 *
 * Nothing under a temporary name is ever loaded, so leftovers only take space. What a process prepares or moves aside
 * is gone after some milliseconds, so what was there for more than an hour when the shard was last written to is a
 * leftover of a process that was killed. If its process was only stopped, it prepares the entry again when it goes on.
 * Both times are the file system's: this machine's clock may differ from a file server's.
 */
#include "persist/directory/entries.h"

#include <errno.h>
#include <ingot/backend.h>
#include <string.h>

#include "persist/base/base.h"
#include "persist/directory/format/entry.h"
#include "persist/storage/storage.h"
#include "util/nanoseconds.h"

#define MOST_ATTEMPTS 4u
#define MOST_REPLACEMENTS 64u    /* while an entry is read */
#define FIRST_PAUSE_NS NS_PER_MS /* each further pause is twice as long */
#define NAME_ATTEMPTS 16u
#define LEFTOVER_AGE_NS (3600 * NS_PER_SECOND)

/* ---- directories that are not entries ---- */

int temporary_make(const struct root *root, const char *shard_path, char path[PATH_CAPACITY])
{
    int result = -EEXIST;
    for (unsigned i = 0; i < NAME_ATTEMPTS && result == -EEXIST; ++i) {
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
    for (unsigned i = 0; i < NAME_ATTEMPTS && (result == -EEXIST || result == -ENOTEMPTY); ++i) {
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
    storage_count(root->directory->storage, COUNTER_LEFTOVERS, 1);
    /* It gets another name first, so that a process that goes on does not publish it half deleted. If it came with a
     * container's image, it cannot be renamed, and no such process exists. */
    paths_temporary(own, shard_path, files_random());
    const int result = files_rename(root->fd, path, root->fd, own);
    if (result == 0 || result == -EXDEV)
        temporary_delete(root, result == 0 ? own : path);
    kept_error_restore(&kept);
    return true;
}

/* ---- entries ---- */

int lookup_refresh(const struct root *root, const char *entry_path)
{
    char path[PATH_CAPACITY];
    int result = files_refresh(root->fd, ".");
    for (const char *slash = strchr(entry_path, '/'); slash != NULL && result != -ENOENT;
         slash = strchr(slash + 1, '/')) {
        const size_t length = (size_t)(slash - entry_path);
        memcpy(path, entry_path, length);
        path[length] = '\0';
        result = files_refresh(root->fd, path);
    }
    return result != -ENOENT ? files_refresh(root->fd, entry_path) : result;
}

ingot_status_t lookup_examine_shard(const struct root *root, const char *name_space, uint8_t shard)
{
    char path[PATH_CAPACITY];
    paths_shard(path, name_space, shard);
    return root_check_directory(root, path);
}

static ingot_status_t read_place(struct lookup *search, const struct entry_place *place)
{
    struct file_facts facts = {0};
    struct key_file key;
    ingot_status_t status = entry_examine(place, &facts);
    search->inode = facts.inode;
    if (status == INGOT_SUCCESS)
        status = entry_read(place, search->id_size, search->id, &search->root->directory->allocator, &key, NULL,
                            search->blob, &search->time_ns);
    return status;
}

/* Removes a bad entry, and returns `status`. Returns INGOT_NOT_FOUND if the entry is gone, and sets *is_replaced if
 * another one has its place: then nothing was wrong with either. */
static ingot_status_t refuse_bad_entry(const struct lookup *search, ingot_status_t status, bool *is_replaced)
{
    const struct root *root = search->root;
    struct directory *directory = root->directory;
    struct file_facts facts;
    const bool is_there = files_facts_at(root->fd, search->path, &facts) == 0;
    *is_replaced = is_there && facts.inode != search->inode;
    if (!is_there || *is_replaced)
        return INGOT_NOT_FOUND;
    storage_count(directory->storage, COUNTER_REFUSED, 1);
    if (!directory->is_read_only)
        (void)lookup_take_away(root, directory->name_space, &search->hash, search->inode, 0);
    return status;
}

/* Reads the entry. If it is bad, reads it again through a handle of its directory, because it may have been replaced
 * while it was read; and once more each time that it was replaced and deleted meanwhile. */
static ingot_status_t read_entry(struct lookup *search)
{
    bool is_replaced = true;
    const struct root *root = search->root;
    const struct entry_place place = {root->fd, search->path, root->directory->owner};
    ingot_status_t status = lookup_examine_shard(root, root->directory->name_space, search->hash.bytes[0]);
    if (status == INGOT_SUCCESS)
        status = read_place(search, &place);
    for (unsigned i = 0; i < MOST_REPLACEMENTS && is_replaced && (i != 0 || entry_is_bad(status)); ++i) {
        struct entry_place pinned;
        (void)lookup_refresh(root, search->path);
        const ingot_status_t is_pinned = entry_pin(&place, &pinned);
        if (is_pinned == INGOT_UNTRUSTED) /* it is not a directory */
            return refuse_bad_entry(search, status, &is_replaced);
        if (is_pinned != INGOT_SUCCESS)
            return is_pinned;
        is_replaced = false;
        status = read_place(search, &pinned);
        if (entry_is_bad(status))
            status = refuse_bad_entry(search, status, &is_replaced);
        (void)files_close(pinned.at);
    }
    return status;
}

ingot_status_t lookup_find(const struct root *root, size_t id_size, const uint8_t *id, struct lookup *found,
                           ingot_buffer_t *blob)
{
    *found =
        (struct lookup){.root = root, .id_size = id_size, .id = id, .blob = blob, .hash = checksum_of(id_size, id)};
    paths_entry(found->path, root->directory->name_space, &found->hash);
    ingot_status_t status = read_entry(found);
    /* another machine has deleted something meanwhile: what is found may change in a moment */
    for (unsigned i = 0; i < MOST_ATTEMPTS && status == INGOT_IO_ERROR && ingot_last_error_code() == ESTALE; ++i) {
        files_pause_ns(FIRST_PAUSE_NS << i);
        (void)lookup_refresh(root, found->path);
        status = read_entry(found);
    }
    if (status == INGOT_NOT_FOUND)
        (void)ingot_set_error_detail(INGOT_NOT_FOUND, "no entry %s", found->path);
    else if (status == INGOT_BLOB_MISMATCH)
        status = ingot_set_error_detail(INGOT_NOT_FOUND, "%s is the entry of another id", found->path);
    return status;
}

ingot_status_t lookup_take_away(const struct root *root, const char *name_space, const struct checksum *hash,
                                uint64_t inode, uint64_t deadline_ns)
{
    char path[PATH_CAPACITY];
    char aside[PATH_CAPACITY];
    struct file_facts facts;
    struct account account;
    paths_entry(path, name_space, hash);
    const ingot_status_t status = account_begin(root, name_space, deadline_ns, &account);
    if (status != INGOT_SUCCESS)
        return status;
    int result = lookup_refresh(root, path);
    if (result != -ENOENT)
        result = files_facts_at(root->fd, path, &facts);
    if (result == 0 && facts.inode != inode)
        result = -ENOENT;
    const uint64_t bytes = result == 0 ? entry_bytes(root->fd, path, NULL) : 0;
    if (result == 0)
        result = temporary_take(root, path, aside);
    if (result == 0)
        account_subtract(&account, bytes, 1);
    account_end(&account);
    if (result < 0)
        return result == -ENOENT ? INGOT_NOT_FOUND : files_write_failed(result, "removing", path);
    temporary_delete(root, aside);
    return INGOT_SUCCESS;
}
