/*
 * use.c - after a load found an entry, notes the time of use, or removes the entry if it is too old.
 *
 * The time of an entry is the time at which its kernel.bin was last modified. A load sets it only if the eviction order
 * depends on it, and at most once per second and entry. A read-only store notes nothing, so there an entry's age counts
 * from the last use that was noted.
 */
#include "persist/directory/use.h"

#include <ingot/backend.h>

#include "persist/base/files.h"
#include "util/nanoseconds.h"

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
    const uint64_t then_ns = bucket->kernel.time_ns;
    paths_entry(path, bucket->path, bucket->number);
    if (directory_age_ns(now_ns, then_ns) > directory->max_age_ns) {
        counters_add(&directory->counters, COUNTER_EXPIRED, 1);
        if (!directory->is_read_only)
            (void)bucket_take_away(directory, directory->name_space, bucket->hash, bucket->number, bucket->inode, 0);
        return ingot_set_error_detail(INGOT_NOT_FOUND, "%s is older than the age limit", path);
    }
    if (!directory->order->follows_use || directory->is_read_only || then_ns / NS_PER_SECOND == now_ns / NS_PER_SECOND)
        return INGOT_SUCCESS;
    const int result = files_set_time(bucket->kernel.fd, now_ns);
    if (result < 0)
        tell_unstamped(directory, result, path);
    return INGOT_SUCCESS;
}
