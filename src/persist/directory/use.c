/*
 * use.c - after a load found an entry, notes the time of use, or removes the entry if it is too old.
 *
 * The time is noted only if the eviction order depends on it, and at most once per second and entry. Noting it writes
 * four bytes of the entry's record under the lock of the index. Without the lock, NFS would write the whole page as
 * this machine last saw it. If the lock is not free, the use is not noted, because a load must not wait. A read-only
 * store notes nothing, so there an entry's age counts from the last use that was noted.
 */
#include "persist/directory/use.h"

#include <errno.h>
#include <ingot/backend.h>

#include "persist/base/files.h"
#include "persist/directory/format/index.h"
#include "persist/directory/layout/account_files.h"
#include "util/nanoseconds.h"

#define ATTEMPTS 3u

/* Finds an entry's record without the lock. Tries again if it finds no record, because the index may have changed
 * during the search. */
static int find_record(int index_fd, const struct bucket *bucket, struct index_place *place)
{
    int result = 0;
    for (unsigned i = 0; i < ATTEMPTS && result == 0; ++i) {
        struct index_header header;
        result = index_read_header(index_fd, &header);
        if (result == 1)
            result = index_find(index_fd, header.page_count, bucket->hash, bucket->number, place);
    }
    return result == 0 ? -ENOENT : result;
}

/* Writes the time of use to an entry's record, unless the lock is not free. */
static int note(int index_fd, const struct bucket *bucket, uint32_t now_s)
{
    struct index_place place;
    int result = files_try_lock_whole(index_fd);
    if (result < 0)
        return result == -EAGAIN ? 0 : result;
    result = find_record(index_fd, bucket, &place);
    if (result == 1)
        result = files_may_grow_to(place.offset + INDEX_RECORD_SIZE) ? index_note_use(index_fd, place.offset, now_s)
                                                                     : -EFBIG;
    (void)files_unlock_whole(index_fd);
    return result;
}

static bool is_expired(const struct directory *directory, uint64_t now_ns, uint64_t created_ns, uint64_t last_use_ns)
{
    return directory_age_ns(directory, now_ns, created_ns, last_use_ns) > directory->max_age_ns;
}

/* Sets *last_use_ns to the last use that was noted. Notes this use unless the entry is too old. */
static int look_up_and_note(struct directory *directory, const struct bucket *bucket, uint64_t now_ns,
                            uint64_t *last_use_ns)
{
    struct account_files *kept;
    struct index_place place;
    const uint32_t now_s = (uint32_t)(now_ns / NS_PER_SECOND);
    const int index_fd = account_files_borrow_index(directory, &kept);
    if (index_fd < 0)
        return index_fd;
    int result = find_record(index_fd, bucket, &place);
    if (result == 1) {
        *last_use_ns = place.record.last_use_s * NS_PER_SECOND;
        result = 0;
        if (place.record.last_use_s != now_s && !directory->is_read_only &&
            !is_expired(directory, now_ns, bucket->created_ns, *last_use_ns))
            result = note(index_fd, bucket, now_s);
    }
    account_files_return_index(kept, index_fd);
    return result;
}

static void tell_unstamped(struct directory *directory, int error, const char *entry_path)
{
    counters_add(&directory->counters, COUNTER_UNSTAMPED, 1);
    if (atomic_exchange_explicit(&directory->has_told_unstamped, true, memory_order_relaxed))
        return;
    const ingot_status_t status = files_write_failed(error, "noting the use of", entry_path);
    directory_tell(directory, INGOT_EVENT_STORAGE_DEGRADED, status, 0, files_steady_clock_ns(), entry_path,
                   "uses cannot be recorded, so the oldest entries are evicted first");
}

ingot_status_t use_note(struct directory *directory, const struct bucket *bucket)
{
    if (!directory->order->follows_use && directory->max_age_ns == UINT64_MAX)
        return INGOT_SUCCESS;
    char path[PATH_CAPACITY];
    const uint64_t now_ns = files_wall_clock_ns();
    uint64_t last_use_ns = bucket->last_use_ns;
    paths_entry(path, bucket->path, bucket->number);
    const int result = directory->order->follows_use ? look_up_and_note(directory, bucket, now_ns, &last_use_ns) : 0;
    if (is_expired(directory, now_ns, bucket->created_ns, last_use_ns)) {
        counters_add(&directory->counters, COUNTER_EXPIRED, 1);
        if (!directory->is_read_only)
            (void)bucket_take_away(directory, directory->name_space, bucket->hash, bucket->number, bucket->inode, 0);
        return ingot_set_error_detail(INGOT_NOT_FOUND, "%s is older than the age limit", path);
    }
    if (result < 0 && !directory->is_read_only)
        tell_unstamped(directory, result, path);
    return INGOT_SUCCESS;
}
