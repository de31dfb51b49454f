/*
 * bucket.c - the entries of one bucket: which has an id, which number is free, and taking one away.
 *
 * Number 0 is tried by its path; only when that does not end the search is the bucket listed. Searching locks nothing.
 */
#include "persist/bucket.h"

#include <errno.h>
#include <ingot/backend.h>
#include <string.h>

#include "persist/entry.h"
#include "persist/files.h"
#include "persist/memory.h"
#include "persist/temporary.h"

/* The lowest numbers of a bucket, ascending. */
struct numbers {
    uint32_t count;
    uint32_t values[BUCKET_MAX_ENTRIES];
};

static bool add_number(void *user, const char *name)
{
    struct numbers *numbers = user;
    uint64_t value;
    if (!paths_parse_number(name, UINT32_MAX, &value))
        return true;
    if (numbers->count == BUCKET_MAX_ENTRIES) {
        if (numbers->values[BUCKET_MAX_ENTRIES - 1] < value)
            return true;
        --numbers->count;
    }
    uint32_t at = numbers->count++;
    for (; at > 0 && numbers->values[at - 1] > value; --at)
        numbers->values[at] = numbers->values[at - 1];
    numbers->values[at] = (uint32_t)value;
    return true;
}

static uint32_t first_free(const struct numbers *numbers)
{
    uint32_t number = 0;
    while (number < numbers->count && numbers->values[number] == number)
        ++number;
    return number;
}

/* An entry that is no directory: a plain file of ours is taken for a bad entry, all else is not touched. */
static ingot_status_t judge_non_directory(const struct directory *directory, const char *entry_path, uint64_t *inode)
{
    struct file_facts facts;
    const int result = files_facts_at(directory->root, entry_path, &facts);
    if (result == -ENOENT)
        return INGOT_NOT_FOUND;
    if (result < 0 || !facts.is_file || !facts.is_private)
        return ingot_set_error_detail(INGOT_UNTRUSTED, "%s is no directory", entry_path);
    *inode = facts.inode;
    return ingot_set_error_detail(INGOT_BLOB_CORRUPT, "%s is a file", entry_path);
}

static ingot_status_t read_entry(const struct directory *directory, const struct bucket *bucket,
                                 const char *entry_path, size_t id_size, const uint8_t *id, struct key_file *key,
                                 ingot_buffer_t *blob, uint64_t *inode)
{
    const int entry = files_open_place(directory->root, entry_path);
    if (entry == -ENOTDIR)
        return judge_non_directory(directory, entry_path, inode);
    if (entry < 0)
        return files_read_failed(entry, "opening", entry_path);

    ingot_status_t status;
    struct file_facts facts;
    struct file_facts bucket_facts;
    int result = files_facts(entry, &facts);
    if (result == 0)
        result = files_facts_at(directory->root, bucket->path, &bucket_facts);
    if (result < 0)
        status = files_read_failed(result, "examining", entry_path);
    else if (!facts.is_private || !bucket_facts.is_private)
        status = ingot_set_error_detail(INGOT_UNTRUSTED, "others own or may write %s", entry_path);
    else
        status = entry_read(entry, id_size, id, &directory->allocator, key, blob);
    *inode = facts.inode;
    (void)files_close(entry);
    return status;
}

/* Reads one number; what is bad is taken away at once, unless another thread or process is at it. */
static ingot_status_t try_number(struct directory *directory, struct bucket *bucket, uint32_t number, size_t id_size,
                                 const uint8_t *id, ingot_buffer_t *blob)
{
    char entry_path[PATH_CAPACITY];
    paths_entry(entry_path, bucket->path, number);
    uint64_t inode = 0;
    struct key_file key;
    const ingot_status_t status = read_entry(directory, bucket, entry_path, id_size, id, &key, blob, &inode);
    if (status == INGOT_SUCCESS) {
        bucket->number = number;
        bucket->inode = inode;
        bucket->created_ns = key.created_ns;
        bucket->last_use_ns = key.last_use_ns;
    }
    if (!entry_is_bad(status))
        return status;

    struct file_facts facts;
    if (files_facts_at(directory->root, entry_path, &facts) < 0 || facts.inode != inode)
        return INGOT_NOT_FOUND; /* it was being deleted while it was read */
    directory_count(&directory->counters.refused, 1);
    if (!directory->is_read_only)
        (void)bucket_take_away(directory, entry_path, inode, 0);
    return status;
}

static bool ends_search(ingot_status_t status)
{
    return status == INGOT_SUCCESS || status == INGOT_OUT_OF_MEMORY;
}

static ingot_status_t search_listed(struct directory *directory, struct bucket *bucket, ingot_status_t first,
                                    size_t id_size, const uint8_t *id, ingot_buffer_t *blob)
{
    struct numbers numbers = {0};
    const int result = files_list(directory->root, bucket->path, add_number, &numbers);
    bucket->is_full = first_free(&numbers) >= BUCKET_MAX_ENTRIES;
    if (result == -ENOENT)
        return first;
    if (result < 0)
        return files_read_failed(result, "listing", bucket->path);

    ingot_status_t reason = first;
    for (uint32_t i = 0; i < numbers.count; ++i) {
        if (numbers.values[i] == 0)
            continue;
        const ingot_status_t status = try_number(directory, bucket, numbers.values[i], id_size, id, blob);
        if (ends_search(status))
            return status;
        if (reason == INGOT_NOT_FOUND && status != INGOT_BLOB_MISMATCH)
            reason = status;
    }
    return reason;
}

ingot_status_t bucket_find(struct directory *directory, size_t id_size, const uint8_t *id, struct bucket *bucket,
                           ingot_buffer_t *blob)
{
    memset(bucket, 0, sizeof(*bucket));
    paths_bucket(bucket->path, directory->name_space, directory->bucket_of(id_size, id));
    ingot_status_t status = try_number(directory, bucket, 0, id_size, id, blob);
    if (ends_search(status))
        return status;
    if (status == INGOT_BLOB_MISMATCH)
        status = INGOT_NOT_FOUND;
    status = search_listed(directory, bucket, status, id_size, id, blob);
    if (status == INGOT_NOT_FOUND)
        return ingot_set_error_detail(INGOT_NOT_FOUND, "no entry in %s", bucket->path);
    return status;
}

bool bucket_put_aside(const struct directory *directory, const char *entry_path, uint64_t inode, int tmp,
                      struct account *account, char name[PATH_CAPACITY])
{
    struct file_facts facts;
    if (files_facts_at(directory->root, entry_path, &facts) < 0 || facts.inode != inode)
        return false;
    const uint64_t bytes = entry_bytes(directory->root, entry_path);
    temporary_name(name);
    if (files_rename(directory->root, entry_path, tmp, name) < 0)
        return false;
    account_subtract(account, bytes);
    return true;
}

static void remove_empty_bucket(const struct directory *directory, const char *entry_path)
{
    char bucket_path[PATH_CAPACITY];
    const size_t length = (size_t)(strrchr(entry_path, '/') - entry_path);
    memcpy(bucket_path, entry_path, length);
    bucket_path[length] = '\0';
    (void)files_remove_directory(directory->root, bucket_path); /* fails where it is not empty */
}

ingot_status_t bucket_take_away(const struct directory *directory, const char *entry_path, uint64_t inode,
                                uint64_t deadline_ns)
{
    int tmp;
    struct account account;
    char name[PATH_CAPACITY];
    ingot_status_t status = temporary_open(directory, &tmp);
    if (status != INGOT_SUCCESS)
        return status;
    status = account_begin(directory, deadline_ns, &account);
    if (status == INGOT_SUCCESS) {
        const bool is_aside = bucket_put_aside(directory, entry_path, inode, tmp, &account, name);
        if (is_aside)
            account_write(&account);
        account_end(&account);
        if (is_aside) {
            remove_empty_bucket(directory, entry_path);
            temporary_delete(tmp, name);
        } else {
            status = INGOT_NOT_FOUND;
        }
    }
    (void)files_close(tmp);
    return status;
}
