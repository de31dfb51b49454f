/*
 * scan.c - lists the namespaces and entries of a store; see entries.h.
 *
 * A scan of a whole store takes time in proportion to its size. It is therefore made only on request, or of a store
 * that is known to be small, whose account is locked then; otherwise, none is.
 */
#include "persist/directory/entries.h"

#include <errno.h>
#include <ingot/backend.h>
#include <stdlib.h>
#include <string.h>

#include "persist/base/base.h"
#include "persist/directory/format/entry.h"

#define MOST_LEFTOVERS 256u /* deleted by one scan, which may hold a lock; the next one goes on */

static bool is_out_of_memory(const struct scan *scan)
{
    return scan->entries.failed || scan->name_spaces.failed;
}

static bool add_name_space(void *user, const char *name)
{
    struct scan *scan = user;
    struct scan_name_space added = {.entry_count = 0};
    if (name[0] != '\0' && !paths_is_namespace(name))
        return true;
    memcpy(added.name, name, strlen(name) + 1);
    bytes_put(&scan->name_spaces, sizeof(added), &added);
    scan->name_space_count += !scan->name_spaces.failed;
    return !scan->name_spaces.failed;
}

/* The shard that visit_shard is reading. */
struct reading {
    struct scan *scan;
    struct root shard; /* its own directory as the root of paths, which are shorter then */
    const char *path;
    uint64_t written_ns; /* when the shard was last written to */
    uint32_t name_space;
    uint8_t number;
};

/* Reads the facts of an entry. Returns false if the object there cannot be from this store: another user owns it, or it
 * is neither a directory nor a file. */
static bool read_entry_facts(const struct reading *reading, const char *name, struct scan_entry *entry)
{
    struct scan *scan = reading->scan;
    struct file_facts facts;
    entry->bytes = entry_bytes(reading->shard.fd, name, &entry->time_ns);
    if (!scan->is_inspection && entry->time_ns != 0)
        return true;
    const int result = files_facts_at(reading->shard.fd, name, &facts);
    if (result < 0 && result != -ENOENT)
        ++scan->unread_count;
    if (result < 0 || !files_are_own(&facts, scan->root->directory->owner) || !(facts.is_directory || facts.is_file))
        return false;
    entry->inode = facts.inode;
    return true;
}

static bool visit_shard(void *user, const char *name)
{
    const struct reading *reading = user;
    struct scan *scan = reading->scan;
    struct scan_entry found = {.name_space = reading->name_space};
    uint64_t leftover_bytes;
    const bool is_removing =
        !scan->is_inspection && !scan->root->directory->is_read_only && scan->leftover_count < MOST_LEFTOVERS;
    if (temporary_reclaim(scan->root, reading->path, name, reading->written_ns, is_removing, &leftover_bytes)) {
        ++scan->leftover_count;
        scan->leftover_bytes = account_sum(scan->leftover_bytes, leftover_bytes);
    }
    found.hash.bytes[0] = reading->number;
    if (!paths_parse_entry(name, &found.hash) || !read_entry_facts(reading, name, &found))
        return true;
    bytes_put(&scan->entries, sizeof(found), &found);
    if (scan->entries.failed)
        return false;
    struct scan_name_space *name_space = scan_name_space_at(scan, found.name_space);
    ++scan->entry_count;
    ++name_space->entry_count;
    scan->total_bytes = account_sum(scan->total_bytes, found.bytes);
    name_space->total_bytes = account_sum(name_space->total_bytes, found.bytes);
    ++scan->watch->progress.entry_count;
    scan->watch->progress.bytes += found.bytes;
    return upkeep_watch_tell(scan->watch);
}

static bool is_ended(const struct scan *scan)
{
    return is_out_of_memory(scan) || scan->watch->ended != INGOT_SUCCESS;
}

int scan_shard(struct scan *scan, uint32_t name_space, uint8_t shard)
{
    char path[PATH_CAPACITY];
    struct file_facts facts;
    paths_shard(path, scan_name_space_at(scan, name_space)->name, shard);
    struct reading reading = {
        scan, {scan->root->directory, files_open_place(scan->root->fd, path), 0}, path, 0, name_space, shard};
    int result = reading.shard.fd < 0 ? reading.shard.fd : files_facts(reading.shard.fd, &facts);
    if (result == 0) {
        reading.written_ns = facts.modified_ns;
        result = files_list(reading.shard.fd, ".", visit_shard, &reading);
    }
    if (reading.shard.fd >= 0)
        (void)files_close(reading.shard.fd);
    if (result == -EMFILE || result == -ENFILE || result == -ENOMEM || result == -EIO)
        return result;
    if (result < 0 && result != -ENOENT && result != -ENOTDIR && result != -ELOOP)
        ++scan->unread_count;
    return is_out_of_memory(scan) ? -ENOMEM : 0;
}

static bool find_shard(void *user, const char *name)
{
    bool *has_shard = user;
    uint8_t shard;
    if (paths_parse_shard(name, &shard))
        has_shard[shard] = true;
    return true;
}

static int compare_name_spaces(const void *left, const void *right)
{
    return strcmp(((const struct scan_name_space *)left)->name, ((const struct scan_name_space *)right)->name);
}

ingot_status_t scan_init(struct scan *scan, const struct root *root, bool includes_all, struct upkeep_watch *watch)
{
    const char *name_space = root->directory->name_space;
    *scan = (struct scan){.root = root, .watch = watch};
    bytes_writer_init(&scan->entries, &root->directory->allocator);
    bytes_writer_init(&scan->name_spaces, &root->directory->allocator);
    int result = add_name_space(scan, name_space) ? 0 : -ENOMEM;
    if (result == 0 && includes_all && name_space[0] == '\0')
        result = files_list(root->fd, ".", add_name_space, scan);
    if (is_out_of_memory(scan))
        result = -ENOMEM;
    if (scan->name_space_count > 1) /* makes the order independent of the file system; "" stays first */
        qsort(scan->name_spaces.bytes, scan->name_space_count, sizeof(struct scan_name_space), compare_name_spaces);
    return result < 0 ? files_read_failed(result, "listing", "the store") : INGOT_SUCCESS;
}

void scan_fini(struct scan *scan)
{
    bytes_writer_fini(&scan->entries);
    bytes_writer_fini(&scan->name_spaces);
}

ingot_status_t scan_all(struct scan *scan)
{
    int result = 0;
    for (uint32_t i = 0; i < scan->name_space_count && result == 0 && !is_ended(scan); ++i) {
        struct scan_name_space *each = scan_name_space_at(scan, i);
        const uint64_t unread_before = scan->unread_count;
        bool has_shard[PATHS_SHARD_COUNT] = {false};
        each->is_recorded = account_peek(scan->root, each->name, &each->before);
        result = files_list(scan->root->fd, each->name[0] != '\0' ? each->name : ".", find_shard, has_shard);
        if (each->name[0] != '\0' && (result == -ENOENT || result == -ENOTDIR || result == -ELOOP)) {
            result = 0; /* it is not a namespace */
            continue;
        }
        if (i != 0 && (result == -EACCES || result == -EPERM)) { /* it was only found, and is perhaps another user's */
            ++scan->unread_count;
            result = 0;
        } else {
            for (scan->part = 0; scan->part < PATHS_SHARD_COUNT && result == 0 && !is_ended(scan); ++scan->part)
                result = has_shard[scan->part] ? scan_shard(scan, i, (uint8_t)scan->part) : 0;
        }
        each->unread_count = scan->unread_count - unread_before;
    }
    if (is_out_of_memory(scan))
        result = -ENOMEM;
    return result < 0 ? files_read_failed(result, "listing", "the store") : INGOT_SUCCESS;
}

void scan_forget_entries(struct scan *scan)
{
    scan->entries.size = 0;
    scan->entry_count = 0;
    scan->total_bytes = 0;
}

int scan_compare_places(const void *left_entry, const void *right_entry)
{
    const struct scan_entry *left = left_entry;
    const struct scan_entry *right = right_entry;
    const int result = memcmp(left->hash.bytes, right->hash.bytes, CHECKSUM_SIZE);
    return result != 0 ? result : (left->name_space > right->name_space) - (left->name_space < right->name_space);
}

int scan_compare_times(const void *left_entry, const void *right_entry)
{
    const struct scan_entry *left = left_entry;
    const struct scan_entry *right = right_entry;
    const int result = (left->time_ns > right->time_ns) - (left->time_ns < right->time_ns);
    return result != 0 ? result : scan_compare_places(left_entry, right_entry);
}

void scan_sort(struct scan *scan, int (*compare)(const void *left, const void *right))
{
    if (scan->entry_count > 1)
        qsort(scan->entries.bytes, scan->entry_count, sizeof(struct scan_entry), compare);
}
