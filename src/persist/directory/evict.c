/*
 * evict.c - counts a store's entries, corrects size.txt, and evicts the oldest entries; see entries.h.
 *
 * A thread that stores an entry, and finds no room for it, evicts. It lists a small store as a whole, so the order of
 * eviction is exact. Of a large one, it lists some random shards, one after the other, and takes the oldest of each.
 * All shards have about the same number of entries, because their names are hashes. A shard is reduced to its part of
 * the low-water mark, whatever size.txt has, so a wrong total evicts nothing.
 *
 * A small store is counted under the lock, which takes some milliseconds. Several threads and processes may evict at
 * once: they choose the same entries, and each counts those as gone that another one removed.
 *
 * The last evictions are in a file of the store, so that people learn whether a program was evicted or never there;
 * doc/store-format.md specifies it. Nothing depends on the file, so there is no lock for it, and failures are ignored.
 * Writers that meet lose records.
 */
#include "persist/directory/entries.h"

#include <errno.h>
#include <ingot/backend.h>
#include <ingot/private/directory.h>
#include <ingot/private/persist.h>
#include <string.h>

#include "persist/base/base.h"
#include "persist/directory/format/entry.h"
#include "persist/storage/storage.h"
#include "util/limit.h"
#include "util/little_endian.h"
#include "util/nanoseconds.h"
#include "util/struct_size.h"

/* Machines that share a store may have clocks that differ by less than this. */
#define CLOCK_SKEW_NS (86400 * NS_PER_SECOND)
/* A machine whose clock is before the year 2024 has not set it yet. */
#define UNSET_CLOCK_NS (UINT64_C(1704067200) * NS_PER_SECOND)
#define SHARDS_NS (6 * NS_PER_MS)       /* how long an eviction from shards goes on */
#define LEISURE_NS (60 * NS_PER_SECOND) /* between two looks for old entries in a large store */
#define BATCH 16u                       /* removals for each of which the lock is held */
#define MOST_AT_ONCE 256u               /* removals by one store from a small store; they take as long as the count */
/* An estimate replaces the totals if it differs by more than this part, and its shards should have so many entries. */
#define MAX_ERROR_PART 4u
#define LEAST_ESTIMATED 1024u

/* ---- the last evictions ---- */

/* The first slot has the number of the next record. */
enum { SLOT_SIZE = 16, RECORD_COUNT = 4095, HASH_SIZE = 8, PART = 256 };
#define FILE_SIZE ((uint64_t)SLOT_SIZE * (RECORD_COUNT + 1))

/* Notes in the store that entries with these hashes were evicted. */
static void note_evicted(const struct root *root, size_t count, const struct checksum *hashes)
{
    uint8_t slot[SLOT_SIZE] = {0};
    size_t got = 0;
    const int fd = files_size_limit() >= FILE_SIZE ? files_open_update(root->fd, PATHS_EVICTED) : -1;
    if (fd < 0)
        return;
    uint64_t next = files_read(fd, 0, sizeof(slot), slot, &got) == 0 ? le_get_u64(slot) % RECORD_COUNT : 0;
    for (size_t i = 0; i < count; ++i, next = (next + 1) % RECORD_COUNT) {
        memcpy(slot, hashes[i].bytes, HASH_SIZE);
        le_put_u64(slot + HASH_SIZE, files_wall_clock_ns());
        (void)files_write(fd, (next + 1) * SLOT_SIZE, sizeof(slot), slot);
    }
    le_put_u64(slot, next);
    le_put_u64(slot + HASH_SIZE, 0);
    (void)files_write(fd, 0, sizeof(slot), slot);
    (void)files_close(fd);
}

ingot_status_t ingot_persist_find_evicted(ingot_storage_t storage, size_t id_size, const uint8_t *id, uint64_t *time_ns)
{
    struct root root;
    uint8_t slots[PART * SLOT_SIZE];
    size_t got = sizeof(slots);
    *time_ns = 0;
    const ingot_status_t status = root_open_of(storage, false, &root);
    const struct checksum hash = checksum_of(id_size, id);
    const int fd = status == INGOT_SUCCESS ? files_open_read(root.fd, PATHS_EVICTED) : -1;
    for (uint64_t at = SLOT_SIZE; fd >= 0 && at < FILE_SIZE && got == sizeof(slots); at += got) {
        if (files_read(fd, at, sizeof(slots), slots, &got) != 0)
            break;
        for (size_t i = 0; i + SLOT_SIZE <= got; i += SLOT_SIZE) {
            const uint64_t evicted_ns = le_get_u64(slots + i + HASH_SIZE);
            if (memcmp(slots + i, hash.bytes, HASH_SIZE) == 0 && evicted_ns > *time_ns)
                *time_ns = evicted_ns;
        }
    }
    if (fd >= 0)
        (void)files_close(fd);
    root_close(&root);
    return status == INGOT_SUCCESS && *time_ns == 0
               ? ingot_set_error_detail(INGOT_NOT_FOUND, "the last evictions have no such entry")
               : status;
}

/* ---- removing ---- */

/* How far an eviction is. */
struct eviction {
    struct scan *scan;
    const struct evict_limits *limits;
    struct upkeep_watch *watch;
    uint64_t now_ns; /* on the clock of the entries' times */
    uint64_t end_ns; /* on the steady clock: when the time is over */
    size_t next;     /* the entry to look at next */
    size_t end;      /* no entry from this one on is removed */
    uint64_t bytes;  /* what is left */
    size_t left;
};

static bool is_over(const struct eviction *eviction)
{
    const struct evict_limits *limits = eviction->limits;
    return eviction->next < eviction->end &&
           (eviction->bytes > limits->bytes || eviction->left > limits->entry_count ||
            directory_age_ns(eviction->now_ns, scan_entry_at(eviction->scan, eviction->next)->time_ns) >
                limits->age_ns);
}

/* Removes some entries of one namespace while they are over the limits. The lock is held while they are moved
 * aside, and not while they are deleted. */
static ingot_status_t remove_some(struct eviction *eviction)
{
    const struct scan *scan = eviction->scan;
    const uint32_t name_space = scan_entry_at(scan, eviction->next)->name_space;
    char asides[BATCH][PATH_CAPACITY];
    struct checksum hashes[BATCH];
    const unsigned most = eviction->watch->on_progress != NULL ? 1 : BATCH; /* the caller may stop after each */
    unsigned count = 0;
    uint64_t removed_bytes = 0;
    const uint64_t deadline_ns = account_deadline(scan->root->directory);
    struct account account;
    int result = 0;
    ingot_status_t status = account_begin(scan->root, scan_name_space_at(scan, name_space)->name,
                                          deadline_ns < eviction->end_ns ? deadline_ns : eviction->end_ns, &account);
    if (status == INGOT_BUSY && deadline_ns >= eviction->end_ns)
        return INGOT_SUCCESS; /* the time is over */
    if (status != INGOT_SUCCESS)
        return status;
    while (count < most && is_over(eviction) && scan_entry_at(scan, eviction->next)->name_space == name_space) {
        const struct scan_entry *entry = scan_entry_at(scan, eviction->next);
        char path[PATH_CAPACITY];
        uint64_t time_ns;
        paths_entry(path, scan_name_of(scan, entry), &entry->hash);
        (void)entry_bytes(scan->root->fd, path, &time_ns);
        /* it stays if another one has its place by now, or if it was used since */
        result = time_ns == entry->time_ns ? temporary_take(scan->root, path, asides[count]) : -ENOENT;
        if (result < 0 && result != -ENOENT && result != -ENOTDIR)
            break;
        removed_bytes += result == 0 ? entry->bytes : 0;
        hashes[count] = entry->hash;
        count += result == 0;
        /* subtracted even if another process removed the entry */
        eviction->bytes -= entry->bytes < eviction->bytes ? entry->bytes : eviction->bytes;
        --eviction->left;
        ++eviction->next;
    }
    if (count != 0)
        account_subtract(&account, removed_bytes, count);
    account_end(&account);
    if (count != 0)
        note_evicted(scan->root, count, hashes);
    if (result < 0 && result != -ENOENT && result != -ENOTDIR)
        status = files_write_failed(result, "removing", "an entry");
    for (unsigned i = 0; i < count; ++i)
        temporary_delete(scan->root, asides[i]);
    eviction->watch->progress.removed_count += count;
    eviction->watch->progress.removed_bytes += removed_bytes;
    (void)upkeep_watch_tell(eviction->watch);
    return status;
}

/* Evicts at most this number of entries until the limits are met, or until the time is over. Sorts the entries. */
static ingot_status_t remove_oldest(struct scan *scan, const struct evict_limits *limits, size_t most, uint64_t end_ns,
                                    struct upkeep_watch *watch)
{
    struct eviction eviction = {.scan = scan,
                                .limits = limits,
                                .watch = watch,
                                .now_ns = files_wall_clock_ns(),
                                .end_ns = end_ns,
                                .end = most < scan->entry_count ? most : scan->entry_count,
                                .bytes = scan->total_bytes,
                                .left = scan->entry_count};
    /* Times in the future count as now. A machine whose clock was ahead by more than a day used such an entry; the
     * entry gets the present time, so that it ages from now on. */
    for (size_t i = 0; i < scan->entry_count; ++i) {
        struct scan_entry *entry = scan_entry_at(scan, i);
        char path[PATH_CAPACITY];
        char file[PATH_CAPACITY];
        if (entry->time_ns <= eviction.now_ns)
            continue;
        const bool is_far = entry->time_ns - eviction.now_ns > CLOCK_SKEW_NS && eviction.now_ns > UNSET_CLOCK_NS;
        paths_entry(path, scan_name_of(scan, entry), &entry->hash);
        paths_join(file, path, "kernel.bin");
        if (is_far && files_set_time(scan->root->fd, file, eviction.now_ns) == 0)
            entry->time_ns = eviction.now_ns;
    }
    scan_sort(scan, scan_compare_times);
    ingot_status_t status = INGOT_SUCCESS;
    while (status == INGOT_SUCCESS && watch->ended == INGOT_SUCCESS && is_over(&eviction) &&
           files_steady_clock_ns() < end_ns)
        status = remove_some(&eviction);
    return status;
}

static void tell_evicted_entries(struct directory *directory, ingot_status_t status, uint64_t started_ns,
                                 const char *reason, const struct upkeep_watch *watch)
{
    if (watch->progress.removed_count == 0)
        return;
    storage_count(directory->storage, COUNTER_EVICTIONS, watch->progress.removed_count);
    storage_tell(directory->storage, INGOT_EVENT_STORAGE_EVICT, status, watch->progress.removed_bytes, started_ns, "",
                 reason);
}

/* ---- on request ---- */

uint64_t evict_age_ns(uint64_t max_age_ms, uint64_t default_ns)
{
    const uint64_t age_ms = limit_of(max_age_ms, UINT64_MAX);
    if (max_age_ms == 0)
        return default_ns;
    return age_ms < UINT64_MAX / NS_PER_MS ? age_ms * NS_PER_MS : UINT64_MAX;
}

ingot_status_t evict_on_request(const struct root *root, const struct evict_limits *limits, struct upkeep_watch *watch,
                                ingot_persist_count_t *count)
{
    const uint64_t started_ns = files_steady_clock_ns();
    struct scan scan;
    bool is_any_in_use = false;
    *count = (ingot_persist_count_t){.is_recorded = 1};
    ingot_status_t status = scan_init(&scan, root, true, watch);
    if (status == INGOT_SUCCESS)
        status = scan_all(&scan);
    for (size_t i = 0; i < scan.name_space_count && status == INGOT_SUCCESS; ++i) {
        const struct scan_name_space *each = scan_name_space_at(&scan, i);
        if ((!each->is_recorded && each->entry_count == 0) ||
            root_check_directory(root, each->name[0] != '\0' ? each->name : ".") != INGOT_SUCCESS)
            continue; /* perhaps an unrelated directory */
        is_any_in_use = true;
        count->is_recorded = count->is_recorded && each->is_recorded;
        count->recorded_bytes += each->before.bytes;
        count->entry_count += each->entry_count;
        count->counted_bytes += each->total_bytes;
        /* not if they might become too low because entries could not be read */
        if (watch->ended == INGOT_SUCCESS && each->unread_count == 0 && !root->directory->is_read_only)
            status = account_correct(root, each->name, &each->before, each->total_bytes, each->entry_count);
    }
    count->is_recorded = count->is_recorded && is_any_in_use;
    if (status == INGOT_SUCCESS && limits != NULL)
        status = remove_oldest(&scan, limits, SIZE_MAX, UINT64_MAX, watch);
    scan_fini(&scan);
    tell_evicted_entries(root->directory, status, started_ns, "on request", watch);
    return status;
}

ingot_status_t ingot_persist_evict(ingot_storage_t storage, const ingot_persist_limits_t *limits, uint64_t *entry_count,
                                   uint64_t *bytes)
{
    struct root root = {NULL, -1, 0};
    struct upkeep_watch watch = upkeep_watch_of(NULL, NULL);
    ingot_persist_limits_t known = INGOT_PERSIST_LIMITS_INIT;
    ingot_persist_count_t counted;
    ingot_status_t status = INGOT_INVALID_ARGUMENTS;
    if (!STRUCT_READ_OVER(known, limits))
        (void)ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "limits or its struct_size is missing");
    else
        status = root_open_of(storage, true, &root);
    if (status == INGOT_SUCCESS) {
        const struct directory *directory = root.directory;
        const struct evict_limits wanted = {limit_of(known.max_bytes, directory->max_bytes),
                                            limit_of(known.max_entries, directory->max_entries),
                                            evict_age_ns(known.max_age_ms, directory->max_age_ns)};
        watch = upkeep_watch_of(known.on_progress, known.user);
        status = evict_on_request(&root, &wanted, &watch, &counted);
        if (status == INGOT_SUCCESS)
            status = watch.ended;
    }
    root_close(&root);
    if (entry_count != NULL)
        *entry_count = watch.progress.removed_count;
    if (bytes != NULL)
        *bytes = watch.progress.removed_bytes;
    return status;
}

ingot_status_t ingot_persist_recount(ingot_storage_t storage, ingot_persist_count_t *count)
{
    struct root root;
    struct upkeep_watch nobody = upkeep_watch_of(NULL, NULL);
    ingot_status_t status = root_open_of(storage, false, &root);
    if (status == INGOT_SUCCESS)
        status = evict_on_request(&root, NULL, &nobody, count);
    root_close(&root);
    return status;
}

/* ---- by a store ---- */

/* Returns a * numerator / denominator. UINT64_MAX stays, because it stands for no limit. */
static uint64_t scale_limit(uint64_t a, uint64_t numerator, uint64_t denominator)
{
    if (a == UINT64_MAX || numerator == denominator)
        return a;
    const uint64_t whole = a / denominator;
    if (whole > UINT64_MAX / 2 / numerator)
        return UINT64_MAX / 2;
    return whole * numerator + a % denominator * numerator / denominator;
}

/* Returns the number down to which to evict: UINT64_MAX if `wanted` more fit the limit. */
static uint64_t target_of(const struct directory *directory, uint64_t total, uint64_t wanted, uint64_t limit)
{
    const uint64_t rest = wanted < limit ? limit - wanted : 0;
    if (!directory->order->evicts || limit == UINT64_MAX || total <= rest)
        return UINT64_MAX;
    const uint64_t low = scale_limit(limit, directory->low_water_percent, 100);
    return low < rest ? low : rest;
}

/* Returns the limits of an eviction for an entry of wanted_bytes (0: none), by the totals of the store. */
static struct evict_limits limits_for(const struct directory *directory, uint64_t bytes, uint64_t entry_count,
                                      uint64_t wanted_bytes)
{
    return (struct evict_limits){
        .bytes = target_of(directory, bytes, wanted_bytes, directory->max_bytes),
        .entry_count = target_of(directory, entry_count, wanted_bytes != 0 ? 1 : 0, directory->max_entries),
        .age_ns = directory->max_age_ns,
    };
}

static ingot_status_t ends_at_many(const ingot_persist_upkeep_progress_t *so_far, void *user)
{
    (void)user;
    return so_far->entry_count > 2 * EVICT_EXACT ? INGOT_BUSY : INGOT_SUCCESS;
}

/* If the totals are not known, or differ much from those of `part` shards times their number, sets them to these. Makes
 * them unknown if so few entries are left that they can be counted. Does nothing if the lock is not free in time. */
static ingot_status_t correct_by_estimate(const struct root *root, uint64_t bytes, uint64_t entry_count, unsigned part,
                                          uint64_t deadline_ns)
{
    struct account account;
    if (part == 0)
        return INGOT_SUCCESS;
    bytes = scale_limit(bytes, PATHS_SHARD_COUNT, part);
    entry_count = scale_limit(entry_count, PATHS_SHARD_COUNT, part);
    ingot_status_t status = account_begin(root, root->directory->name_space, deadline_ns, &account);
    if (status != INGOT_SUCCESS)
        return status == INGOT_BUSY ? INGOT_SUCCESS : status;
    const uint64_t recorded = account.total.entry_count;
    const uint64_t error = recorded > entry_count ? recorded - entry_count : entry_count - recorded;
    const uint64_t more = recorded > entry_count ? recorded : entry_count;
    const bool is_sure = part == PATHS_SHARD_COUNT || more / PATHS_SHARD_COUNT * part >= LEAST_ESTIMATED;
    if (!account.total.is_known || (is_sure && error > recorded / MAX_ERROR_PART))
        status = entry_count > EVICT_EXACT ? account_set(&account, bytes, entry_count) : account_forget(&account);
    account_end(&account);
    return status;
}

ingot_status_t evict_exactly(const struct root *root, uint64_t wanted_bytes, bool *is_done)
{
    const uint64_t started_ns = files_steady_clock_ns();
    struct directory *directory = root->directory;
    struct upkeep_watch watch = upkeep_watch_of(ends_at_many, NULL);
    struct account account;
    struct scan scan;
    *is_done = false;
    ingot_status_t status = account_begin(root, directory->name_space, account_deadline(directory), &account);
    if (status != INGOT_SUCCESS)
        return status;
    struct evict_limits limits = limits_for(directory, account.total.bytes, account.total.entry_count, wanted_bytes);
    if (wanted_bytes != 0 && account.total.is_known && limits.bytes == UINT64_MAX &&
        limits.entry_count == UINT64_MAX) { /* there is room: another thread has evicted meanwhile */
        account_end(&account);
        *is_done = true;
        return INGOT_SUCCESS;
    }
    status = scan_init(&scan, root, false, &watch);
    if (status == INGOT_SUCCESS)
        status = scan_all(&scan);
    if (status == INGOT_SUCCESS) /* a namespace that has become a link was not counted */
        status = root_check_directory(root, directory->name_space[0] != '\0' ? directory->name_space : ".");
    *is_done = status == INGOT_SUCCESS && watch.ended == INGOT_SUCCESS;
    if (*is_done && scan.unread_count == 0)
        status = account_set(&account, scan.total_bytes, scan.entry_count);
    account_end(&account);
    watch.on_progress = NULL;
    if (status == INGOT_SUCCESS && *is_done) {
        limits = limits_for(directory, scan.total_bytes, scan.entry_count, wanted_bytes);
        status = remove_oldest(&scan, &limits, MOST_AT_ONCE, UINT64_MAX, &watch);
        const uint64_t oldest_ns = watch.progress.removed_count < scan.entry_count
                                       ? scan_entry_at(&scan, watch.progress.removed_count)->time_ns
                                       : files_wall_clock_ns();
        atomic_store_explicit(&directory->oldest_ns, oldest_ns != 0 ? oldest_ns : 1, memory_order_relaxed);
    } else if (status == INGOT_SUCCESS) {
        status = correct_by_estimate(root, scan.total_bytes, scan.entry_count, scan.part, account_deadline(directory));
    }
    scan_fini(&scan);
    tell_evicted_entries(directory, status, started_ns, directory->order->reason, &watch);
    return status;
}

ingot_status_t evict_from_shards(const struct root *root, uint64_t wanted_bytes)
{
    const uint64_t started_ns = files_steady_clock_ns();
    const uint64_t random = files_random();
    struct directory *directory = root->directory;
    struct upkeep_watch watch = upkeep_watch_of(NULL, NULL);
    struct account_total total;
    struct scan scan;
    uint64_t found_bytes = 0;
    uint64_t found_count = 0;
    unsigned part = 0;
    bool is_known = account_peek(root, directory->name_space, &total);
    ingot_status_t status = scan_init(&scan, root, false, &watch);
    const struct evict_limits limits = limits_for(directory, total.bytes, total.entry_count, wanted_bytes);
    const struct evict_limits of_shard = {
        .bytes = scale_limit(limits.bytes, 1, PATHS_SHARD_COUNT),
        .entry_count = scale_limit(limits.entry_count, 1, PATHS_SHARD_COUNT),
        .age_ns = limits.age_ns,
    };
    for (; status == INGOT_SUCCESS && part < PATHS_SHARD_COUNT; ++part) {
        const bool is_at_mark = is_known && total.bytes <= limits.bytes && total.entry_count <= limits.entry_count;
        if ((part != 0 && is_at_mark && (limits.age_ns == UINT64_MAX || wanted_bytes != 0)) ||
            (part != 0 && files_steady_clock_ns() - started_ns > SHARDS_NS))
            break;
        scan_forget_entries(&scan);
        const int result = scan_shard(&scan, 0, (uint8_t)(random + part * (random >> 8 | 1)));
        found_bytes += scan.total_bytes;
        found_count += scan.entry_count;
        status = result < 0 ? files_read_failed(result, "listing", "the store")
                            : remove_oldest(&scan, &of_shard, SIZE_MAX, started_ns + SHARDS_NS, &watch);
        is_known = account_peek(root, directory->name_space, &total);
    }
    if (status == INGOT_SUCCESS)
        status = correct_by_estimate(root, found_bytes - watch.progress.removed_bytes,
                                     found_count - watch.progress.removed_count, part, 0); /* without a wait */
    scan_fini(&scan);
    tell_evicted_entries(directory, status, started_ns, directory->order->reason, &watch);
    return status;
}

void evict_expired(const struct root *root)
{
    bool is_done = false;
    struct account_total total;
    struct directory *directory = root->directory;
    const uint64_t now_ns = files_wall_clock_ns();
    const uint64_t oldest_ns = atomic_load_explicit(&directory->oldest_ns, memory_order_relaxed);
    if (directory->max_age_ns == UINT64_MAX ||
        (oldest_ns != 0 && directory_age_ns(now_ns, oldest_ns) <= directory->max_age_ns))
        return;
    (void)account_peek(root, directory->name_space, &total);
    if (total.entry_count <= EVICT_EXACT)
        (void)evict_exactly(root, 0, &is_done);
    if (is_done)
        return;
    (void)evict_from_shards(root, 0);
    /* looks again in a minute */
    const uint64_t next_ns = now_ns > directory->max_age_ns ? now_ns - directory->max_age_ns + LEISURE_NS : 1;
    atomic_store_explicit(&directory->oldest_ns, next_ns, memory_order_relaxed);
}
