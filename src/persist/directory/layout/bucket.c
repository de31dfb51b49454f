/*
 * bucket.c - finds the entry of an id in its bucket, and removes entries.
 *
 * A bucket is the directory of all entries whose ids have the same hash. An entry in it is a directory whose name is a
 * number. A search tries one number after the other, and rarely more than number 0. A search takes no lock. Before it
 * treats an entry as damaged, it asks a network file system what other machines did.
 */
#include "persist/directory/layout/bucket.h"

#include <errno.h>
#include <ingot/backend.h>
#include <string.h>

#include "persist/base/files.h"
#include "persist/base/kept_error.h"
#include "persist/base/memory.h"
#include "persist/directory/format/entry.h"
#include "persist/directory/layout/temporary.h"
#include "util/nanoseconds.h"

#define MOST_ATTEMPTS 4u
/* A bucket without the entry is rare. Another process may be replacing it on a file system that exchanges no
 * directories, so a search looks twice, after this pause. */
#define SECOND_LOOK_NS (NS_PER_MS / 2)
#define MOST_REPLACEMENTS 64u    /* while a number is read */
#define FIRST_PAUSE_NS NS_PER_MS /* each further pause is twice as long */
#define REMOVE_ATTEMPTS 3u       /* without pauses, because the lock is held */

void bucket_refresh(const struct root *root, const char *bucket_path)
{
    char name_space[PATH_CAPACITY];
    const char *slash = strchr(bucket_path, '/');
    files_refresh(root->fd, ".");
    if (slash != NULL) {
        const size_t length = (size_t)(slash - bucket_path);
        memcpy(name_space, bucket_path, length);
        name_space[length] = '\0';
        files_refresh(root->fd, name_space);
    }
    files_refresh(root->fd, bucket_path);
}

/* Pauses, asks the server, and returns true: what was found may change in a moment. Returns false after four attempts,
 * which take 15 ms together. */
static bool try_again(const struct root *root, const char *bucket_path, unsigned *attempt)
{
    if (*attempt == MOST_ATTEMPTS)
        return false;
    files_pause_ns(FIRST_PAUSE_NS << (*attempt)++);
    bucket_refresh(root, bucket_path);
    return true;
}

/* True if the thread's last error, which has this status, is ESTALE. */
static bool is_stale(ingot_status_t status)
{
    return status == INGOT_IO_ERROR && ingot_last_error_code() == ESTALE;
}

ingot_status_t bucket_examine(const struct root *root, const char *bucket_path)
{
    struct file_facts facts;
    const int result = files_facts_at(root->fd, bucket_path, &facts);
    if (result < 0)
        return files_read_failed(result, "examining", bucket_path);
    if (!facts.is_directory || !files_are_private(&facts, root->directory->owner))
        return files_untrusted(&facts, true, root->directory->owner, bucket_path);
    return INGOT_SUCCESS;
}

/* The arguments of a search. */
struct search {
    const struct root *root;
    struct bucket *bucket;
    size_t id_size;
    const uint8_t *id;
    ingot_buffer_t *blob;
    enum blob_check check;
    bool keeps_kernel;
};

static ingot_status_t read_place(const struct search *search, const struct entry_place *place, uint32_t number,
                                 uint64_t *inode)
{
    struct bucket *bucket = search->bucket;
    struct file_facts facts = {0};
    struct key_file key;
    ingot_status_t status = entry_examine(place, &facts);
    *inode = facts.inode;
    if (status == INGOT_SUCCESS)
        status = entry_read(place, search->id_size, search->id, &search->root->directory->allocator, &key, search->blob,
                            search->keeps_kernel ? &bucket->kernel : NULL);
    if (status == INGOT_SUCCESS) {
        bucket->number = number;
        bucket->inode = facts.inode;
        bucket->bytes = entry_bytes_for((size_t)key.id_size_bytes, (size_t)key.blob_size_bytes);
    }
    return status;
}

/* Removes a bad entry if the lock is free, and returns `status`. Returns INGOT_NOT_FOUND if the entry is gone, and sets
 * *is_replaced if another one has its number: then nothing was wrong with either. */
static ingot_status_t refuse_bad_entry(const struct search *search, const char *entry_path, uint32_t number,
                                       uint64_t inode, ingot_status_t status, bool *is_replaced)
{
    const struct root *root = search->root;
    struct directory *directory = root->directory;
    struct file_facts facts;
    const bool is_there = files_facts_at(root->fd, entry_path, &facts) == 0;
    *is_replaced = is_there && facts.inode != inode;
    if (!is_there || *is_replaced)
        return INGOT_NOT_FOUND;
    counters_add(&directory->counters, COUNTER_REFUSED, 1);
    if (!directory->is_read_only)
        (void)bucket_take_away(root, directory->name_space, search->bucket->hash, number, inode, 0);
    return status;
}

/* Reads the entry that has a number. If the entry is bad, reads it again through a handle of its directory, because it
 * may have been replaced while it was read; and once more each time that it was replaced and deleted meanwhile. */
static ingot_status_t read_number(const struct search *search, uint32_t number)
{
    bool is_replaced = true;
    const struct root *root = search->root;
    char entry_path[PATH_CAPACITY];
    uint64_t inode;
    paths_entry(entry_path, search->bucket->path, number);
    const struct entry_place place = {root->fd, entry_path, root->directory->owner, search->check};
    ingot_status_t status = read_place(search, &place, number, &inode);
    if (!entry_is_bad(status))
        return status;
    for (unsigned i = 0; i < MOST_REPLACEMENTS && is_replaced; ++i) {
        struct entry_place pinned;
        bucket_refresh(root, search->bucket->path);
        const ingot_status_t is_pinned = entry_pin(&place, &pinned);
        if (is_pinned == INGOT_UNTRUSTED) /* it is not a directory */
            return refuse_bad_entry(search, entry_path, number, inode, status, &is_replaced);
        if (is_pinned != INGOT_SUCCESS)
            return is_pinned;
        is_replaced = false;
        status = read_place(search, &pinned, number, &inode);
        if (entry_is_bad(status))
            status = refuse_bad_entry(search, entry_path, number, inode, status, &is_replaced);
        (void)files_close(pinned.at);
    }
    return status;
}

static ingot_status_t try_number(const struct search *search, uint32_t number)
{
    const ingot_status_t status = read_number(search, number);
    search->bucket->is_stale = search->bucket->is_stale || is_stale(status);
    return status;
}

static bool ends_search(ingot_status_t status)
{
    return status == INGOT_SUCCESS || status == INGOT_OUT_OF_MEMORY;
}

/* Reads one number after the other. If none has the id, returns the first reason why one of them was refused. */
static ingot_status_t find_entry_in_bucket(const struct search *search)
{
    struct bucket *bucket = search->bucket;
    struct kept_error kept;
    ingot_status_t reason = bucket_examine(search->root, bucket->path);
    bucket->is_stale = is_stale(reason);
    bucket->is_there = reason == INGOT_SUCCESS;
    if (!bucket->is_there)
        return reason;
    reason = ingot_set_error_detail(INGOT_NOT_FOUND, "no entry in %s", bucket->path);
    kept_error_save(&kept);
    for (uint32_t number = 0; number < BUCKET_MAX_ENTRIES; ++number) {
        const ingot_status_t status = try_number(search, number);
        if (ends_search(status))
            return status;
        if (reason == INGOT_NOT_FOUND && status != INGOT_NOT_FOUND && status != INGOT_BLOB_MISMATCH) {
            reason = status;
            kept_error_save(&kept);
        }
    }
    kept_error_restore(&kept);
    return reason;
}

ingot_status_t bucket_find(const struct root *root, size_t id_size, const uint8_t *id, struct bucket *bucket,
                           ingot_buffer_t *blob, enum blob_check check, bool keeps_kernel)
{
    const struct search search = {root, bucket, id_size, id, blob, check, keeps_kernel};
    memset(bucket, 0, sizeof(*bucket));
    bucket->hash = root->directory->bucket_of(id_size, id);
    paths_bucket(bucket->path, root->directory->name_space, bucket->hash);
    unsigned attempt = 0;
    bool has_looked_twice = false;
    bool looks_again;
    ingot_status_t status;
    do {
        status = find_entry_in_bucket(&search);
        looks_again = !ends_search(status) && bucket->is_stale && try_again(root, bucket->path, &attempt);
        if (status == INGOT_NOT_FOUND && bucket->is_there && !looks_again && !has_looked_twice) {
            has_looked_twice = looks_again = true;
            files_pause_ns(SECOND_LOOK_NS);
        }
    } while (looks_again);
    return status;
}

/* Deletes an entry without moving it to tmp first. In a container, an entry's directory that is part of the image
 * cannot be renamed (EXDEV), but its files can be removed. key.bin is removed first: if the process ends right after
 * that, the rest counts as a bad entry. */
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

/* Examines an entry that is to be removed. A network file system may report another machine's new entry as missing, or
 * the one that it replaced, so the server is asked before the answer is believed. */
static int examine_to_remove(const struct root *root, const char *bucket_path, const char *path, uint64_t inode,
                             struct file_facts *facts)
{
    int result = files_facts_at(root->fd, path, facts);
    for (unsigned i = 0; i < REMOVE_ATTEMPTS && (result < 0 || (i == 0 && inode != 0)); ++i) {
        bucket_refresh(root, bucket_path);
        result = files_facts_at(root->fd, path, facts);
    }
    return result;
}

ingot_status_t bucket_put_aside(struct account *account, uint64_t hash, uint32_t number, uint64_t inode,
                                char aside[PATH_CAPACITY])
{
    const struct root *root = account->root;
    char bucket_path[PATH_CAPACITY];
    char path[PATH_CAPACITY];
    struct file_facts facts;
    paths_bucket(bucket_path, account->name_space, hash);
    paths_entry(path, bucket_path, number);
    int result = examine_to_remove(root, bucket_path, path, inode, &facts);
    if (result == -ENOENT || (result == 0 && inode != 0 && facts.inode != inode))
        return INGOT_NOT_FOUND;
    if (result < 0)
        return files_write_failed(result, "examining", path);
    temporary_name(aside);
    const uint64_t bytes = entry_bytes(root->fd, path, NULL);
    result = files_rename(root->fd, path, root->fd, aside);
    if (result == -EXDEV)
        result = delete_in_place(root, path);
    if (result < 0)
        return result == -ENOENT ? INGOT_NOT_FOUND : files_write_failed(result, "removing", path);
    account_subtract(account, bytes);
    return INGOT_SUCCESS;
}

ingot_status_t bucket_take_away(const struct root *root, const char *name_space, uint64_t hash, uint32_t number,
                                uint64_t inode, uint64_t deadline_ns)
{
    struct account account;
    char aside[PATH_CAPACITY];
    char bucket_path[PATH_CAPACITY];
    ingot_status_t status = temporary_ready(root);
    if (status == INGOT_SUCCESS)
        status = account_begin(root, name_space, deadline_ns, &account);
    if (status != INGOT_SUCCESS)
        return status;
    status = bucket_put_aside(&account, hash, number, inode, aside);
    account_end(&account);
    if (status != INGOT_SUCCESS)
        return status;
    paths_bucket(bucket_path, name_space, hash);
    (void)files_remove_directory(root->fd, bucket_path); /* fails if it is not empty */
    temporary_delete(root, aside);
    return INGOT_SUCCESS;
}
