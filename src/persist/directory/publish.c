/*
 * publish.c - stores one blob in a directory store.
 *
 * An entry is prepared in tmp without a lock. One rename makes it visible, or exchanges it for the entry that it
 * replaces, under the lock of size.txt, to which its bytes are added first. If storing fails before the rename, nothing
 * remains except possibly a leftover in tmp.
 *
 * If the entry does not fit, a small store evicts at once. From a larger store, a thread evicts, and the entry is
 * stored although the store is over its limit. The store exceeds it by a fifth at most: a store that would exceed more
 * evicts from a sample if its process has not evicted yet. Otherwise, it waits a few milliseconds for the thread, and
 * then gives up.
 */
#include "persist/directory/publish.h"

#include <errno.h>
#include <ingot/backend.h>
#include <string.h>

#include "persist/base/files.h"
#include "persist/base/memory.h"
#include "persist/directory/format/entry.h"
#include "persist/directory/format/key_file.h"
#include "persist/directory/layout/account.h"
#include "persist/directory/layout/bucket.h"
#include "persist/directory/layout/temporary.h"
#include "persist/directory/upkeep/evict.h"
#include "persist/storage/kinds.h"
#include "util/nanoseconds.h"

#define RENAME_ATTEMPTS 16u
/* The maximum number of evictions from a small store for one blob. Other processes may fill it meanwhile. */
#define MAX_EVICTIONS 64u
/* A store may exceed its limit by this part while its thread evicts. */
#define EXCESS_PART 5u
#define MAX_WAIT_NS (8 * NS_PER_MS) /* the longest wait for that thread */
#define PAUSE_NS (NS_PER_MS / 4)

/* An entry that is being stored. */
struct publication {
    const struct root *root;
    size_t id_size;
    const uint8_t *id;
    struct bucket bucket;
    bool is_number_free; /* true if bucket.number is known to be free */
    bool is_replacing;   /* true if it replaces the entry that has bucket.number */
    bool is_in_bucket;   /* true if it is prepared in its bucket */
    uint64_t bytes;
    uint64_t file_limit;          /* files_size_limit() when storing began */
    bool is_over;                 /* true if the store exceeds a limit with this entry */
    bool has_counted;             /* true if the entries were counted because size.txt could not be relied on */
    unsigned evictions;           /* from a small store, for this entry */
    uint64_t waiting_ns;          /* when waiting for the thread that evicts began; 0: not yet */
    char prepared[PATH_CAPACITY]; /* path in tmp, or in the bucket; "" once published */
    char aside[PATH_CAPACITY];    /* where an entry is now that was replaced; "" if none */
};

static ingot_status_t check_entry_sizes(struct directory *directory, size_t id_size, size_t blob_size)
{
    if (directory->is_read_only)
        return ingot_set_error_detail(INGOT_READ_ONLY, "the store was opened read-only");
    if (id_size > KEY_FILE_MAX_ID_SIZE || blob_size > KEY_FILE_MAX_BLOB_SIZE)
        return ingot_set_error_detail(INGOT_NO_SPACE, "an id of %zu and a blob of %zu bytes are too large for an entry",
                                      id_size, blob_size);
    if (blob_size < directory->min_blob_bytes || blob_size > directory->max_blob_bytes) {
        counters_add(&directory->counters, COUNTER_NOT_KEPT, 1);
        return ingot_set_error(INGOT_NO_SPACE, STORAGE_EXCLUDED_CODE, "the store's limits exclude blobs of %zu bytes",
                               blob_size);
    }
    if (entry_bytes_for(id_size, blob_size) > directory->max_bytes)
        return ingot_set_error(INGOT_NO_SPACE, STORAGE_EXCLUDED_CODE,
                               "an entry of %llu bytes exceeds the limit of the whole store",
                               (unsigned long long)entry_bytes_for(id_size, blob_size));
    return INGOT_SUCCESS;
}

static ingot_status_t make_name_space(const struct root *root)
{
    struct file_facts facts;
    if (root->directory->name_space[0] == '\0')
        return INGOT_SUCCESS;
    const int result = files_facts_at(root->fd, root->directory->name_space, &facts);
    if (result == -ENOENT) {
        const int made = files_make_directory(root->fd, root->directory->name_space);
        return made < 0 && made != -EEXIST ? files_write_failed(made, "making", root->directory->name_space)
                                           : INGOT_SUCCESS;
    }
    if (result < 0)
        return files_write_failed(result, "examining", root->directory->name_space);
    if (!facts.is_directory || !files_are_private(&facts, root->directory->owner))
        return files_untrusted(&facts, true, root->directory->owner, root->directory->name_space);
    return INGOT_SUCCESS;
}

/* True if a search failed because the bucket is open to other users, or closed to its owner. */
static bool is_to_repair(const struct root *root, const char *bucket_path, ingot_status_t status)
{
    struct file_facts facts;
    return (status == INGOT_UNTRUSTED || status == INGOT_IO_ERROR) &&
           files_facts_at(root->fd, bucket_path, &facts) == 0 && facts.is_directory && (facts.mode & 0722) != 0700;
}

/* Creates the bucket, or looks for the id in the existing one. Sets *is_done if the same blob is already stored. */
static ingot_status_t enter_bucket(struct publication *publication, size_t blob_size, const uint8_t *blob,
                                   bool *is_done)
{
    const struct root *root = publication->root;
    struct directory *directory = root->directory;
    struct bucket *bucket = &publication->bucket;
    ingot_status_t status = make_name_space(root);
    if (status != INGOT_SUCCESS)
        return status;
    bucket->hash = directory->bucket_of(publication->id_size, publication->id);
    paths_bucket(bucket->path, directory->name_space, bucket->hash);
    const int made = files_make_directory(root->fd, bucket->path);
    publication->is_number_free = made == 0;
    if (made == 0)
        return INGOT_SUCCESS;
    if (made != -EEXIST)
        return files_write_failed(made, "making", bucket->path);

    ingot_buffer_t found = INGOT_BUFFER_INIT;
    status = bucket_find(root, publication->id_size, publication->id, bucket, &found, BLOB_CHECKED_HERE, false);
    if (is_to_repair(root, bucket->path, status) &&
        files_make_private(root->fd, bucket->path) == 0) /* each entry in it is checked by itself */
        status = bucket_find(root, publication->id_size, publication->id, bucket, &found, BLOB_CHECKED_HERE, false);
    if (status == INGOT_OUT_OF_MEMORY || status == INGOT_IO_ERROR)
        return status; /* an unreadable entry may have this id, and no id may have two entries */
    if (status == INGOT_UNTRUSTED && bucket_examine(root, bucket->path) == INGOT_UNTRUSTED)
        return status; /* the bucket itself is untrusted, and not just an entry in it */
    publication->is_replacing = status == INGOT_SUCCESS;
    *is_done = publication->is_replacing && found.size == blob_size && memcmp(found.bytes, blob, blob_size) == 0;
    memory_release_buffer(&found);
    return INGOT_SUCCESS;
}

static ingot_status_t prepare_entry_files(struct publication *publication, size_t blob_size, const uint8_t *blob)
{
    const struct root *root = publication->root;
    struct directory *directory = root->directory;
    if (KEY_FILE_HEADER_SIZE + (uint64_t)publication->id_size > publication->file_limit ||
        blob_size > publication->file_limit)
        return ingot_set_error_detail(INGOT_NO_SPACE, "the process may not write a file of %zu bytes", blob_size);
    publication->is_in_bucket = atomic_load_explicit(&directory->prepares_in_buckets, memory_order_relaxed);
    ingot_status_t status = temporary_ready(root);
    if (status == INGOT_SUCCESS)
        status =
            temporary_make(root, publication->is_in_bucket ? publication->bucket.path : NULL, publication->prepared);
    if (status != INGOT_SUCCESS) {
        publication->prepared[0] = '\0';
        return status;
    }
    return entry_write(root->fd, publication->prepared, publication->id_size, publication->id, blob_size, blob,
                       directory->is_durable);
}

/* Moves a useless entry to tmp, so that its number becomes free. Returns INGOT_NOT_FOUND on success, as if it had not
 * been there. Each publication moves at most one: the next search removes others. */
static ingot_status_t free_number(struct publication *publication, struct account *account, uint32_t number,
                                  uint64_t inode)
{
    char aside[PATH_CAPACITY];
    if (publication->aside[0] != '\0')
        return INGOT_BLOB_MISMATCH;
    const ingot_status_t status = bucket_put_aside(account, publication->bucket.hash, number, inode, aside);
    if (status != INGOT_SUCCESS)
        return status;
    memcpy(publication->aside, aside, sizeof(aside));
    return INGOT_NOT_FOUND;
}

/*
 * Examines what is at a number of the bucket, all but the bytes of a blob: reading these under the lock would take too
 * long, and an entry that was renamed into place is complete. Moves an entry to tmp if it is bad, has the id but an
 * untrusted blob, or is open to other users. Returns INGOT_NOT_FOUND if the number is free, INGOT_SUCCESS if an entry
 * there has the id, and INGOT_BLOB_MISMATCH for an object that stays. Otherwise, an entry cannot be read or moved, so
 * going on might make two entries with one id.
 */
static ingot_status_t judge_occupant(struct publication *publication, struct account *account, uint32_t number)
{
    const struct root *root = publication->root;
    const struct directory *directory = root->directory;
    char path[PATH_CAPACITY];
    struct file_facts facts = {0};
    struct key_file key;
    bool is_of_id = false;
    paths_entry(path, publication->bucket.path, number);
    const struct entry_place place = {root->fd, path, directory->owner, BLOB_CHECKED_HERE};
    ingot_status_t status = entry_examine(&place, &facts);
    if (status != INGOT_SUCCESS && facts.inode == 0)
        return status;
    if (!facts.is_directory)
        return INGOT_BLOB_MISMATCH;
    if (status == INGOT_SUCCESS) {
        status = entry_read(&place, publication->id_size, publication->id, &directory->allocator, &key, NULL, NULL);
        is_of_id = status == INGOT_SUCCESS;
    }
    if (is_of_id)
        status = entry_examine_blob(&place, &key);
    if (entry_is_bad(status) || (status == INGOT_UNTRUSTED && (is_of_id || files_are_own(&facts, directory->owner))))
        return free_number(publication, account, number, facts.inode);
    return status == INGOT_SUCCESS || status == INGOT_OUT_OF_MEMORY || status == INGOT_IO_ERROR ? status
                                                                                                : INGOT_BLOB_MISMATCH;
}

/* Looks at all numbers, because the first one may be free although the id has an entry: an entry of another id may have
 * had that number when the id's entry was stored. Returns INGOT_NOT_FOUND and sets *number to the first free one, or
 * INGOT_SUCCESS if the id has an entry by now. */
static ingot_status_t find_number(struct publication *publication, struct account *account, uint32_t *number)
{
    const char *path = publication->bucket.path;
    *number = BUCKET_MAX_ENTRIES;
    bucket_refresh(publication->root, path);
    for (uint32_t i = 0; i < BUCKET_MAX_ENTRIES; ++i) {
        const ingot_status_t status = judge_occupant(publication, account, i);
        if (status != INGOT_NOT_FOUND && status != INGOT_BLOB_MISMATCH)
            return status;
        if (status == INGOT_NOT_FOUND && *number == BUCKET_MAX_ENTRIES)
            *number = i;
    }
    return *number < BUCKET_MAX_ENTRIES
               ? INGOT_NOT_FOUND
               : ingot_set_error_detail(INGOT_NO_SPACE, "%s has no free number for another entry", path);
}

/* Renames the entry into the first number that is free. Requires the lock of size.txt. Sets *is_published to false if
 * another writer was faster. A rename onto another entry fails: a machine that does not see the lock has put it there.
 */
static ingot_status_t rename_into_place(struct publication *publication, struct account *account, bool *is_published)
{
    const int root = publication->root->fd;
    const struct bucket *bucket = &publication->bucket;
    int result = 0;
    *is_published = false;
    for (unsigned i = 0; i < RENAME_ATTEMPTS; ++i) {
        char entry_path[PATH_CAPACITY];
        uint32_t number = bucket->number;
        const ingot_status_t status =
            publication->is_number_free ? INGOT_NOT_FOUND : find_number(publication, account, &number);
        publication->is_number_free = false;
        if (status != INGOT_NOT_FOUND)
            return status;
        paths_entry(entry_path, bucket->path, number);
        result = files_rename(root, publication->prepared, root, entry_path);
        if (result == 0) {
            publication->prepared[0] = '\0';
            *is_published = true;
            return INGOT_SUCCESS;
        }
        if (result == -ENOENT) { /* an eviction removed the empty bucket */
            const int made = files_make_directory(root, bucket->path);
            if (made < 0 && made != -EEXIST)
                return files_write_failed(made, "making", bucket->path);
        } else if (result != -ENOTEMPTY && result != -EEXIST && result != -ENOTDIR) {
            break;
        }
    }
    return files_write_failed(result, "publishing in", bucket->path);
}

/* Exchanges the entry for the one that it replaces, so that a reader finds the one or the other at any moment. Where
 * the file system exchanges no directories, moves the old one to tmp: readers find none until the new one is renamed
 * into place, and so does the next process if this one is killed then. Returns INGOT_NOT_FOUND if the entry still needs
 * a number. */
static ingot_status_t exchange_entry(struct publication *publication, struct account *account, bool *is_published)
{
    const int root = publication->root->fd;
    const struct bucket *bucket = &publication->bucket;
    char path[PATH_CAPACITY];
    struct file_facts facts;
    paths_entry(path, bucket->path, bucket->number);
    bucket_refresh(publication->root, bucket->path);
    if (files_facts_at(root, path, &facts) < 0 || facts.inode != bucket->inode)
        return INGOT_NOT_FOUND; /* another process has removed or replaced it */
    const uint64_t old_bytes = entry_bytes(root, path, NULL);
    const int result = files_exchange(root, publication->prepared, path);
    *is_published = result == 0;
    if (result == 0) {
        memcpy(publication->aside, publication->prepared, sizeof(publication->aside));
        publication->prepared[0] = '\0';
        account_subtract(account, old_bytes);
        return INGOT_SUCCESS;
    }
    if (result != -EOPNOTSUPP && !(result == -EXDEV && publication->is_in_bucket)) /* then it is part of an image */
        return files_write_failed(result, "replacing", path);
    const ingot_status_t status = free_number(publication, account, bucket->number, bucket->inode);
    publication->is_number_free = publication->aside[0] != '\0';
    return status;
}

/* Adds the entry to the total and publishes it. In this order, a process that is killed in between leaves a total that
 * is too high, which the next eviction corrects, and never one that is too low. */
static ingot_status_t count_and_publish_entry(struct publication *publication, struct account *account)
{
    bool is_published = false;
    ingot_status_t status = account_add(account, publication->bytes);
    if (status != INGOT_SUCCESS)
        return status;
    if (publication->is_replacing)
        status = exchange_entry(publication, account, &is_published);
    if (!is_published && (status == INGOT_SUCCESS || status == INGOT_NOT_FOUND))
        status = rename_into_place(publication, account, &is_published);
    if (!is_published)
        account_subtract(account, publication->bytes);
    return status;
}

/* ---- room ---- */

static bool is_within_limit(uint64_t total, uint64_t more, uint64_t limit)
{
    return total <= limit && more <= limit - total;
}

static uint64_t with_excess(uint64_t limit)
{
    return limit / EXCESS_PART > UINT64_MAX - limit ? UINT64_MAX : limit + limit / EXCESS_PART;
}

enum room { ROOM_FREE, ROOM_IN_EXCESS, ROOM_NONE };

/* Says whether the entry fits. If it replaces an entry, only the difference must fit. */
static enum room find_room(const struct publication *publication, const struct account_total *total)
{
    const struct directory *directory = publication->root->directory;
    const uint64_t max_bytes = directory->max_bytes; /* read once, because they may change */
    const uint64_t max_entries = directory->max_entries;
    const uint64_t old_bytes = publication->is_replacing ? publication->bucket.bytes : 0;
    const uint64_t bytes = publication->bytes > old_bytes ? publication->bytes - old_bytes : 0;
    const uint64_t entry_count = publication->is_replacing ? 0 : 1;
    if (!total->is_known || (is_within_limit(total->bytes, bytes, max_bytes) &&
                             is_within_limit(total->entry_count, entry_count, max_entries)))
        return ROOM_FREE;
    return directory->order->evicts && is_within_limit(total->bytes, bytes, with_excess(max_bytes)) &&
                   is_within_limit(total->entry_count, entry_count, with_excess(max_entries))
               ? ROOM_IN_EXCESS
               : ROOM_NONE;
}

/* Publishes the entry if there is room. Otherwise sets *total to the account's. */
static ingot_status_t try_to_publish_entry(struct publication *publication, struct account_total *total, bool *is_done)
{
    struct directory *directory = publication->root->directory;
    struct account account;
    ingot_status_t status =
        account_begin(publication->root, directory->name_space, account_deadline(directory), &account);
    if (status != INGOT_SUCCESS)
        return status;
    *total = account.total;
    const enum room room = find_room(publication, total);
    const bool is_small = total->is_known && total->entry_count <= EVICT_SMALL;
    publication->is_over = room != ROOM_FREE || !total->is_known;
    *is_done = (total->is_known || publication->has_counted) &&
               (room == ROOM_FREE || (room == ROOM_IN_EXCESS && !(is_small && publication->evictions == 0)));
    if (*is_done)
        status = count_and_publish_entry(publication, &account);
    account_end(&account);
    return status;
}

/* Counts the entries of a store whose total is not known or, because nothing else corrects it, of one that is full and
 * whose eviction is off. A large store is counted by its thread, and not tried here again for a minute, because an
 * earlier version that uses the store at the same time makes the total unknown with each blob. */
static void count_entries_first(struct publication *publication)
{
    bool is_done;
    publication->has_counted = true;
    if (!evict_knows_large(publication->root->directory))
        (void)evict_from_small(publication->root, 0, &is_done);
}

/* Evicts from a small store, or from a sample of a larger one. Otherwise, wakes the thread that evicts, and waits for a
 * moment. */
static ingot_status_t make_entry_room(struct publication *publication, const struct account_total *total)
{
    struct directory *directory = publication->root->directory;
    bool is_done = false;
    if (!directory->order->evicts)
        return ingot_set_error(INGOT_NO_SPACE, STORAGE_EXCLUDED_CODE, "the store is full and its eviction is off");
    if (total->entry_count <= EVICT_SMALL && publication->evictions < MAX_EVICTIONS) {
        ++publication->evictions;
        const ingot_status_t status = evict_from_small(publication->root, publication->bytes, &is_done);
        if (status != INGOT_SUCCESS || is_done)
            return status;
    }
    const ingot_status_t status = evict_from_sample(publication->root, publication->bytes, &is_done);
    if (status != INGOT_SUCCESS || is_done)
        return status;
    const uint64_t now_ns = files_steady_clock_ns();
    evict_in_thread(directory, publication->bytes, true);
    if (publication->waiting_ns == 0)
        publication->waiting_ns = now_ns;
    if (now_ns - publication->waiting_ns > MAX_WAIT_NS)
        return ingot_set_error_detail(INGOT_NO_SPACE, "the store is full, and evicting entries takes longer than "
                                                      "storing them");
    files_pause_ns(PAUSE_NS);
    return INGOT_SUCCESS;
}

static ingot_status_t commit_publication(struct publication *publication)
{
    struct directory *directory = publication->root->directory;
    struct account_total total = {0, 0, false};
    bool is_done = false;
    ingot_status_t status = INGOT_SUCCESS;
    while (status == INGOT_SUCCESS && !is_done) {
        status = try_to_publish_entry(publication, &total, &is_done);
        if (status != INGOT_SUCCESS || is_done)
            break;
        if (!publication->has_counted && (!total.is_known || !directory->order->evicts))
            count_entries_first(publication);
        else
            status = make_entry_room(publication, &total);
    }
    if (status == INGOT_SUCCESS && publication->is_over)
        evict_in_thread(directory, 0, total.is_known);
    return status;
}

/* True if the entry must be prepared again, in its bucket: a sandbox moves nothing from one directory to another, or
 * the namespace is on a file system of its own. The store's further entries are prepared in their buckets, too. */
static bool must_prepare_in_bucket(struct publication *publication, ingot_status_t status)
{
    if (status == INGOT_SUCCESS || publication->is_in_bucket || ingot_last_error_code() != EXDEV)
        return false;
    temporary_delete(publication->root, publication->prepared);
    publication->prepared[0] = '\0';
    atomic_store_explicit(&publication->root->directory->prepares_in_buckets, true, memory_order_relaxed);
    return true;
}

ingot_status_t publish_entry(const struct root *root, bool replaces, size_t id_size, const uint8_t *id,
                             size_t blob_size, const uint8_t *blob)
{
    struct publication publication = {
        .root = root,
        .id_size = id_size,
        .id = id,
        .bytes = entry_bytes_for(id_size, blob_size),
        .file_limit = files_size_limit(),
    };
    bool is_done = false;
    ingot_status_t status = check_entry_sizes(root->directory, id_size, blob_size);
    if (status != INGOT_SUCCESS)
        return status;
    status = enter_bucket(&publication, blob_size, blob, &is_done);
    if (status != INGOT_SUCCESS || is_done || (publication.is_replacing && !replaces))
        return status;
    do {
        status = prepare_entry_files(&publication, blob_size, blob);
        if (status == INGOT_SUCCESS)
            status = commit_publication(&publication);
    } while (must_prepare_in_bucket(&publication, status));
    if (status == INGOT_SUCCESS && replaces && publication.prepared[0] != '\0') {
        /* Another process was faster. What it stored may be older, such as a server's blob that it promoted. */
        status = enter_bucket(&publication, blob_size, blob, &is_done);
        if (status == INGOT_SUCCESS && !is_done)
            status = commit_publication(&publication);
    }
    if (status == INGOT_SUCCESS && root->directory->is_durable) {
        const int result = files_sync_directory(root->fd, publication.bucket.path);
        if (result < 0)
            status = files_write_failed(result, "synchronizing", publication.bucket.path);
    }
    if (status == INGOT_SUCCESS)
        evict_expired(root);

    if (publication.prepared[0] != '\0')
        temporary_delete(root, publication.prepared);
    if (publication.aside[0] != '\0')
        temporary_delete(root, publication.aside);
    if (status != INGOT_SUCCESS) /* removes the bucket if it is empty; this keeps the error detail */
        (void)files_remove_directory(root->fd, publication.bucket.path);
    return status;
}
