/*
 * use.c - what a hit does to its entry: its time of last use is noted, or it turns out to be too old.
 *
 * Only the order of LRU needs the time, so only it is noted, and a store that cannot be written goes by the creation.
 */
#include "persist/use.h"

#include <errno.h>
#include <ingot/backend.h>

#include "persist/events.h"
#include "persist/files.h"
#include "persist/key_file.h"

/* The entry may be gone by now, or another: then that one counts as used. */
static int stamp(const struct directory *directory, const char *entry_path, uint64_t now_ns)
{
    char path[PATH_CAPACITY];
    uint8_t bytes[KEY_FILE_LAST_USE_SIZE];
    paths_join(path, entry_path, "key.bin");
    const int fd = files_open_write(directory->root, path);
    if (fd < 0)
        return fd;
    key_file_encode_last_use(now_ns, bytes);
    const int result = files_may_grow_to(KEY_FILE_HEADER_SIZE)
                           ? files_write_at(fd, KEY_FILE_LAST_USE_OFFSET, sizeof(bytes), bytes)
                           : -EFBIG;
    (void)files_close(fd);
    return result;
}

static void tell_unstamped(struct directory *directory, int error, const char *entry_path)
{
    directory_count(&directory->counters.unstamped, 1);
    if (atomic_exchange_explicit(&directory->has_told_unstamped, true, memory_order_relaxed))
        return;
    const ingot_status_t status = files_write_failed(error, "noting the use of", entry_path);
    events_tell(directory, INGOT_EVENT_STORAGE_DEGRADED, status, 0, files_steady_clock_ns(), entry_path,
                "uses cannot be noted: what was created first goes first");
}

ingot_status_t use_note(struct directory *directory, const struct bucket *bucket)
{
    const bool is_lru = directory->eviction == INGOT_PERSIST_EVICT_LRU;
    if (!is_lru && directory->max_age_ns == UINT64_MAX)
        return INGOT_SUCCESS;
    char path[PATH_CAPACITY];
    const uint64_t now_ns = files_wall_clock_ns();
    paths_entry(path, bucket->path, bucket->number);
    if (directory_age_ns(directory, now_ns, bucket->created_ns, bucket->last_use_ns) > directory->max_age_ns) {
        directory_count(&directory->counters.expired, 1);
        if (!directory->is_read_only)
            (void)bucket_take_away(directory, path, bucket->inode, 0);
        return ingot_set_error_detail(INGOT_NOT_FOUND, "%s is older than the age limit", path);
    }
    const uint64_t since_ns =
        now_ns > bucket->last_use_ns ? now_ns - bucket->last_use_ns : bucket->last_use_ns - now_ns;
    if (!is_lru || since_ns < USE_RESOLUTION_NS || directory->is_read_only)
        return INGOT_SUCCESS;
    const int result = stamp(directory, path, now_ns);
    if (result < 0)
        tell_unstamped(directory, result, path);
    return INGOT_SUCCESS;
}
