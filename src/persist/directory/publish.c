/*
 * publish.c - stores one blob in a directory store.
 *
 * An entry is prepared in its shard without a lock. Under the lock of size.txt, to which it is added first, it is
 * renamed into its place. That fails if an entry is already there, which is then examined and exchanged for the new
 * one. A store that stores much renames without the lock, and so does one that did not get the lock in time
 * (account.c). If storing fails, nothing remains except possibly a leftover.
 *
 * If the entry does not fit, this thread evicts. It takes some milliseconds at most to evict from a large store, which
 * may exceed its limits by a fifth if that was not enough.
 */
#include "persist/directory/state.h"

#include <errno.h>
#include <ingot/backend.h>
#include <string.h>

#include "persist/base/base.h"
#include "persist/directory/entries.h"
#include "persist/directory/format/entry.h"
#include "persist/storage/storage.h"

#define RENAME_ATTEMPTS 16u
/* The maximum number of exact evictions for one blob. Other processes may fill the store meanwhile. */
#define MAX_EVICTIONS 64u
/* A large store may exceed its limits by this part. */
#define EXCESS_PART 5u

/* An entry that is being stored. */
struct publication {
    const struct root *root;
    size_t id_size;
    const uint8_t *id;
    const uint8_t *blob;
    struct key_file key;
    uint64_t bytes;
    bool replaces;     /* false: an entry that has the id stays */
    bool is_published; /* true: it is in its place */
    char path[PATH_CAPACITY];
    char shard[PATH_CAPACITY];
    char prepared[PATH_CAPACITY]; /* in the shard; "" if there is nothing to delete */
    char aside[PATH_CAPACITY];    /* where an entry is now that was replaced; "" if none */
    uint64_t replaced_count;      /* entries that had the place */
    uint64_t replaced_bytes;
};

static ingot_status_t check_entry_sizes(const struct root *root, size_t id_size, size_t blob_size)
{
    struct directory *directory = root->directory;
    if (directory->is_read_only)
        return ingot_set_error_detail(INGOT_READ_ONLY, "the store was opened read-only");
    if (id_size > KEY_FILE_MAX_ID_SIZE || blob_size > KEY_FILE_MAX_BLOB_SIZE)
        return ingot_set_error_detail(INGOT_NO_SPACE, "an id of %zu and a blob of %zu bytes are too large for an entry",
                                      id_size, blob_size);
    if (blob_size < directory->min_blob_bytes || blob_size > directory->max_blob_bytes) {
        storage_count(directory->storage, COUNTER_NOT_KEPT, 1);
        return ingot_set_error(INGOT_NO_SPACE, STORAGE_EXCLUDED_CODE, "the store's limits exclude blobs of %zu bytes",
                               blob_size);
    }
    if (entry_bytes_for(id_size, blob_size) > directory->max_bytes || directory->max_entries == 0)
        return ingot_set_error(INGOT_NO_SPACE, STORAGE_EXCLUDED_CODE,
                               "an entry of %llu bytes exceeds the limit of the whole store",
                               (unsigned long long)entry_bytes_for(id_size, blob_size));
    if (KEY_FILE_HEADER_SIZE + (uint64_t)id_size > root_file_limit(root) || blob_size > root_file_limit(root))
        return ingot_set_error_detail(INGOT_NO_SPACE, "the process may not write a file of %zu bytes", blob_size);
    return INGOT_SUCCESS;
}

/* ---- the namespace and the shard ---- */

/* Creates the shard, and its namespace, and checks them, unless this store has found the shard in order before: later
 * changes do no harm, because loads check all directories. */
static ingot_status_t ready_shard(const struct publication *publication, bool must_look)
{
    const struct root *root = publication->root;
    struct directory *directory = root->directory;
    const uint8_t number = publication->key.id_checksum.bytes[0];
    _Atomic uint64_t *good = &directory->good_shards[number / 64];
    const uint64_t bit = UINT64_C(1) << (number % 64);
    if (!must_look && (atomic_load_explicit(good, memory_order_relaxed) & bit) != 0)
        return INGOT_SUCCESS;
    ingot_status_t status =
        directory->name_space[0] != '\0' ? root_make_directory(root, directory->name_space, false) : INGOT_SUCCESS;
    if (status == INGOT_SUCCESS)
        status = root_make_directory(root, publication->shard, true);
    if (status == INGOT_SUCCESS)
        (void)atomic_fetch_or_explicit(good, bit, memory_order_relaxed);
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

/* ---- preparing ---- */

static ingot_status_t prepare_entry(struct publication *publication)
{
    const struct root *root = publication->root;
    ingot_status_t status = ready_shard(publication, false);
    int result = status == INGOT_SUCCESS ? temporary_make(root, publication->shard, publication->prepared) : 0;
    if (result == -ENOENT) { /* the shard was there before */
        status = ready_shard(publication, true);
        result = status == INGOT_SUCCESS ? temporary_make(root, publication->shard, publication->prepared) : 0;
    }
    if (result < 0)
        status = files_write_failed(result, "making", publication->prepared);
    else if (status == INGOT_SUCCESS)
        status = entry_write(root->fd, publication->prepared, &publication->key, publication->id, publication->blob);
    if (status != INGOT_SUCCESS) {
        temporary_delete(root, result == 0 ? publication->prepared : "");
        publication->prepared[0] = '\0';
    }
    return status;
}

/* ---- publishing ---- */

/* True if the entry that has the place is as good as the new one: it has the id and, if entries are replaced, the same
 * blob. */
static ingot_status_t judge_occupant(const struct publication *publication, bool *is_good)
{
    struct lookup found;
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    (void)lookup_refresh(publication->root, publication->path);
    const ingot_status_t status = lookup_find(publication->root, publication->id_size, publication->id, &found, &blob);
    *is_good =
        status == INGOT_SUCCESS && (!publication->replaces || (blob.size == publication->key.blob_size_bytes &&
                                                               memcmp(blob.bytes, publication->blob, blob.size) == 0));
    memory_release_buffer(&blob);
    return status == INGOT_OUT_OF_MEMORY ? status : INGOT_SUCCESS;
}

static void note_replaced(struct publication *publication, uint64_t bytes)
{
    ++publication->replaced_count;
    publication->replaced_bytes += bytes;
}

/* Exchanges the entry for what has its place, so that a reader finds the one or the other at any moment. Where the file
 * system exchanges no directories, moves the old one aside: readers find none until the new one is renamed into place,
 * and so does the next process if this one is killed then. Another writer may take the place meanwhile, whose entry is
 * moved, too. Returns 0 or a negated errno. */
static int replace_occupant(struct publication *publication)
{
    const struct root *root = publication->root;
    int result = files_exchange(root->fd, publication->prepared, publication->path);
    publication->is_published = result == 0;
    if (result == 0) {
        memcpy(publication->aside, publication->prepared, sizeof(publication->aside));
        publication->prepared[0] = '\0';
        note_replaced(publication, entry_bytes(root->fd, publication->aside, NULL));
        return 0;
    }
    if (result != -EOPNOTSUPP && result != -EXDEV)
        return result == -ENOENT ? 0 : result;
    temporary_delete(root, publication->aside);
    const uint64_t old_bytes = entry_bytes(root->fd, publication->path, NULL);
    result = temporary_take(root, publication->path, publication->aside);
    if (result == 0)
        note_replaced(publication, old_bytes);
    else
        publication->aside[0] = '\0';
    return result == -ENOENT ? 0 : result;
}

/* Renames the entry into its place. */
static ingot_status_t put_in_place(struct publication *publication)
{
    const struct root *root = publication->root;
    ingot_status_t status = INGOT_SUCCESS;
    int result = 0;
    for (unsigned i = 0; i < RENAME_ATTEMPTS && status == INGOT_SUCCESS; ++i) {
        bool is_good = false;
        result = files_rename(root->fd, publication->prepared, root->fd, publication->path);
        publication->is_published = result == 0;
        if (result == 0) {
            publication->prepared[0] = '\0';
        } else if (result == -ENOENT) { /* the shard is gone, or what was prepared: it was taken for a leftover */
            status = prepare_entry(publication);
        } else if (result == -ENOTEMPTY || result == -EEXIST || result == -ENOTDIR) {
            status = judge_occupant(publication, &is_good);
            result = status == INGOT_SUCCESS && !is_good ? replace_occupant(publication) : 0;
        }
        if (publication->is_published || is_good)
            return INGOT_SUCCESS;
        if (result < 0 && result != -ENOENT)
            break;
    }
    return status == INGOT_SUCCESS ? files_write_failed(result < 0 ? result : -EAGAIN, "publishing", publication->path)
                                   : status;
}

/* ---- publishing in the room that there is ---- */

/* True if the entry fits. If an entry has its place, only the difference must fit. */
static bool is_room(const struct publication *publication, const struct account_total *total, bool may_exceed)
{
    const struct root *root = publication->root;
    const struct directory *directory = root->directory;
    const uint64_t max_bytes = may_exceed ? with_excess(directory->max_bytes) : directory->max_bytes;
    const uint64_t max_entries = may_exceed ? with_excess(directory->max_entries) : directory->max_entries;
    struct file_facts facts;
    if (is_within_limit(total->bytes, publication->bytes, max_bytes) &&
        is_within_limit(total->entry_count, 1, max_entries))
        return true;
    const uint64_t old_bytes = entry_bytes(root->fd, publication->path, NULL);
    const uint64_t more = publication->bytes > old_bytes ? publication->bytes - old_bytes : 0;
    return is_within_limit(total->bytes, more, max_bytes) && is_within_limit(total->entry_count, 0, max_entries) &&
           files_facts_at(root->fd, publication->path, &facts) == 0;
}

/* Puts the entry in its place if there is room, or if the totals are not known and need not be. Then
 * subtracts what it replaced from the account, or the entry if it is not in its place. Sets *total to the account's. */
static ingot_status_t try_to_publish(struct publication *publication, bool may_exceed, bool may_be_unknown,
                                     struct account_total *total, bool *is_done)
{
    const struct root *root = publication->root;
    struct directory *directory = root->directory;
    struct account account;
    ingot_status_t status = account_begin(root, directory->name_space, account_deadline(directory), &account);
    if (status != INGOT_SUCCESS)
        return status;
    *total = account.total;
    *is_done = total->is_known ? is_room(publication, total, may_exceed) : may_be_unknown;
    if (*is_done)
        status = account_add(&account, publication->bytes);
    if (*is_done && status == INGOT_SUCCESS) {
        status = put_in_place(publication);
        const bool is_not_there = !publication->is_published;
        if (publication->replaced_count != 0 || is_not_there)
            account_subtract(&account, publication->replaced_bytes + (is_not_there ? publication->bytes : 0),
                             publication->replaced_count + is_not_there);
    }
    account_end(&account);
    return status;
}

/* Puts the entry in its place without the lock, and adds it to the account later. If an eviction has chosen the entry
 * that is replaced, it may move the new one away instead, which costs a miss. */
static ingot_status_t publish_owing(struct publication *publication)
{
    const ingot_status_t status = put_in_place(publication);
    const uint64_t old_bytes = publication->replaced_bytes;
    if (publication->is_published)
        account_owe(publication->root->directory, publication->bytes > old_bytes ? publication->bytes - old_bytes : 0,
                    publication->replaced_count == 0);
    return status;
}

/* Publishes the entry, and evicts others if there is no room. If the process is killed meanwhile, the total is too high
 * until an eviction corrects it. */
static ingot_status_t publish_with_room(struct publication *publication)
{
    const struct root *root = publication->root;
    struct directory *directory = root->directory;
    const bool evicts = directory->order->evicts;
    struct account_total total = {.is_known = false};
    bool has_counted = false;
    bool has_tried_shards = false;
    bool is_done = false;
    ingot_status_t status = INGOT_SUCCESS;
    for (unsigned evictions = 0; status == INGOT_SUCCESS; ++evictions) {
        const bool may_exceed = has_tried_shards && total.entry_count > EVICT_EXACT;
        status = try_to_publish(publication, may_exceed, has_counted, &total, &is_done);
        if (status != INGOT_SUCCESS || is_done)
            break;
        bool is_exact = total.entry_count <= EVICT_EXACT;
        if ((!evicts && has_counted) || (has_tried_shards && !is_exact) || evictions == MAX_EVICTIONS)
            return ingot_set_error(INGOT_NO_SPACE, evicts ? 0 : STORAGE_EXCLUDED_CODE,
                                   evicts ? "the store is full, and evicting entries takes longer than storing them"
                                          : "the store is full and its eviction is off");
        /* a total that is not known, and one that nothing else corrects, are counted first */
        has_counted = has_counted || !total.is_known || !evicts;
        if (is_exact)
            status = evict_exactly(root, evicts && total.is_known ? publication->bytes : 0, &is_exact);
        if (!is_exact && total.is_known && evicts && status == INGOT_SUCCESS) {
            has_tried_shards = true;
            status = evict_from_shards(root, publication->bytes);
        }
    }
    return status;
}

ingot_status_t publish_entry(const struct root *root, bool replaces, size_t id_size, const uint8_t *id,
                             size_t blob_size, const uint8_t *blob)
{
    struct directory *directory = root->directory;
    struct account_total total;
    struct publication publication = {
        .root = root,
        .id_size = id_size,
        .id = id,
        .blob = blob,
        .bytes = entry_bytes_for(id_size, blob_size),
        .replaces = replaces,
    };
    ingot_status_t status = check_entry_sizes(root, id_size, blob_size);
    if (status != INGOT_SUCCESS)
        return status;
    publication.key = key_file_of(id_size, id, blob_size, blob, files_wall_clock_ns());
    paths_entry(publication.path, directory->name_space, &publication.key.id_checksum);
    paths_shard(publication.shard, directory->name_space, publication.key.id_checksum.bytes[0]);
    status = prepare_entry(&publication);
    if (status == INGOT_SUCCESS)
        status = account_may_owe(directory, publication.bytes, false) ? publish_owing(&publication)
                                                                      : publish_with_room(&publication);
    /* a program that is not stored is compiled again, so the lock is not waited for any longer */
    if (status == INGOT_BUSY && publication.prepared[0] != '\0') {
        (void)account_peek_own(root, &total); /* if they are not known, the next count has the entry */
        if (account_may_owe(directory, publication.bytes, true) && is_room(&publication, &total, true))
            status = publish_owing(&publication);
    }
    temporary_delete(root, publication.prepared);
    temporary_delete(root, publication.aside);
    if (status == INGOT_SUCCESS)
        evict_expired(root);
    return status;
}
