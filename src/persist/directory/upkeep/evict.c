/*
 * evict.c - counts a store's entries, corrects size.txt, and evicts the oldest entries; see evict.h.
 *
 * Everything begins with a survey of all entries, so the order of eviction is exact. Only if the process has no time
 * for that, a random sample of the buckets stands for all: the oldest entries of the sample are evicted, as many as its
 * share of the store. The lock is held for one entry at a time. Several threads and processes may evict at once: they
 * choose the same entries, and each counts those as gone that another one removed.
 *
 * A thread that stores a blob evicts from a small store itself. For a larger one, it starts a thread, which evicts once
 * and ends, and does not wait for it. When the store is closed, that thread counts for at most half a second more, and
 * removes entries until a second has passed. It may not get to that in processes that store little and end. So the
 * first eviction of a process, if the store is too full for its entry, is by the storing thread from a sample. It does
 * not correct size.txt, because other threads may do the same.
 */
#include "persist/directory/upkeep/evict.h"

#include <ingot/backend.h>
#include <string.h>

#include "persist/base/files.h"
#include "persist/directory/layout/bucket.h"
#include "persist/directory/layout/root.h"
#include "util/limit.h"
#include "util/nanoseconds.h"
#include "util/thread.h"

/* An index of version 2 of the format, which this version does not keep. Version 2 makes it again if it is missing. */
#define OLD_INDEX "index.bin"
/* Machines that share a store may have clocks that differ by less than this. */
#define CLOCK_SKEW_NS (86400 * NS_PER_SECOND)
/* A machine whose clock is before the year 2024 has not set it yet. */
#define UNSET_CLOCK_NS (UINT64_C(1704067200) * NS_PER_SECOND)
#define MAX_COUNTING_NS (NS_PER_SECOND / 2)
#define MAX_ENDING_NS (9 * NS_PER_SECOND / 10)
#define MAX_SAMPLE_NS (6 * NS_PER_MS)
#define LEISURE_NS (60 * NS_PER_SECOND)

static _Thread_local bool is_orphan; /* in an evictor's thread: a callback has closed the store */

static void forget_old_index(const struct root *root, const char *name_space)
{
    char path[PATH_CAPACITY];
    account_path(path, name_space, OLD_INDEX);
    (void)files_remove(root->fd, path);
}

static bool is_over(const struct evict_limits *limits, const struct survey_entry *entry, uint64_t bytes,
                    uint64_t entry_count, uint64_t now_ns)
{
    return bytes > limits->bytes || entry_count > limits->entry_count ||
           directory_age_ns(now_ns, entry->time_ns) > limits->age_ns;
}

/* Times in the future count as now. A machine whose clock was ahead by more than a day used such an entry; the entry
 * gets the present time, so that it ages from now on. */
static void correct_future_times(const struct root *root, const struct survey *survey, uint64_t now_ns)
{
    for (size_t i = 0; i < survey->entry_count; ++i) {
        struct survey_entry *entry = survey_entry_at(survey, i);
        char path[PATH_CAPACITY];
        char file[PATH_CAPACITY];
        if (entry->time_ns <= now_ns)
            continue;
        const bool is_far = entry->time_ns - now_ns > CLOCK_SKEW_NS && now_ns > UNSET_CLOCK_NS;
        entry->time_ns = now_ns;
        if (!is_far)
            continue;
        survey_path(survey, entry, path);
        paths_join(file, path, "kernel.bin");
        const int fd = files_open_read(root->fd, file);
        if (fd >= 0) {
            (void)files_set_time(fd, now_ns);
            (void)files_close(fd);
        }
    }
}

/* Evicts entries until the limits are met. */
static ingot_status_t remove_oldest(const struct root *root, struct survey *survey, const struct evict_limits *limits,
                                    struct upkeep_watch *watch)
{
    const uint64_t now_ns = files_wall_clock_ns();
    uint64_t bytes = survey->total_bytes;
    size_t left = survey->entry_count;
    correct_future_times(root, survey, now_ns);
    survey_sort_by_time(survey);
    for (size_t i = 0; i < survey->entry_count && watch->ended == INGOT_SUCCESS; ++i) {
        const struct survey_entry *entry = survey_entry_at(survey, i);
        if (!is_over(limits, entry, bytes, left, now_ns))
            break;
        const ingot_status_t status = bucket_take_away(root, survey_name_of(survey, entry), entry->bucket,
                                                       entry->number, entry->inode, account_deadline(root->directory));
        if (status != INGOT_SUCCESS && status != INGOT_NOT_FOUND)
            return status;
        bytes -= entry->bytes < bytes ? entry->bytes : bytes; /* subtracted even if another process removed the entry */
        --left;
        if (status == INGOT_SUCCESS)
            (void)upkeep_watch_removed(watch, entry->bytes);
    }
    return INGOT_SUCCESS;
}

static void tell_evicted_entries(struct directory *directory, ingot_status_t status, uint64_t started_ns,
                                 const char *reason, const struct upkeep_watch *watch)
{
    if (watch->progress.removed_count == 0)
        return;
    counters_add(&directory->counters, COUNTER_EVICTIONS, watch->progress.removed_count);
    directory_tell(directory, INGOT_EVENT_STORAGE_EVICT, status, watch->progress.removed_bytes, started_ns, "", reason);
}

uint64_t evict_age_ns(uint64_t max_age_ms, uint64_t default_ns)
{
    const uint64_t age_ms = limit_of(max_age_ms, UINT64_MAX);
    if (max_age_ms == 0)
        return default_ns;
    return age_ms < UINT64_MAX / NS_PER_MS ? age_ms * NS_PER_MS : UINT64_MAX;
}

ingot_status_t evict_to_limits(const struct root *root, const char *name_space, const struct evict_limits *limits,
                               const char *reason, struct upkeep_watch *watch)
{
    const uint64_t started_ns = files_steady_clock_ns();
    struct survey survey;
    ingot_status_t status = survey_init(&survey, root, name_space, watch);
    if (status == INGOT_SUCCESS)
        status = remove_oldest(root, &survey, limits, watch);
    survey_fini(&survey);
    tell_evicted_entries(root->directory, status, started_ns, reason, watch);
    return status;
}

/* ---- evictions by the store itself ---- */

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

/* Returns the sum over all buckets if that over `part` in `whole` buckets is known. */
static uint64_t sum_of_all(uint64_t sum, uint64_t part, uint64_t whole)
{
    return part != 0 ? scale_limit(sum, whole, part) : 0;
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

/* Returns how many bytes and entries eviction may leave of those that the survey found. The survey may have read only
 * read_count of the bucket_count buckets, so the totals of the store are estimated from these. */
static struct evict_limits limits_for(const struct directory *directory, const struct survey *survey,
                                      uint64_t wanted_bytes)
{
    const uint64_t part = survey->read_count;
    const uint64_t whole = survey->bucket_count;
    const uint64_t bytes = sum_of_all(survey->total_bytes, part, whole);
    const uint64_t entry_count = sum_of_all(survey->entry_count, part, whole);
    const uint64_t byte_target = target_of(directory, bytes, wanted_bytes, directory->max_bytes);
    const uint64_t count_target = target_of(directory, entry_count, wanted_bytes != 0 ? 1 : 0, directory->max_entries);
    return (struct evict_limits){
        .bytes = whole != 0 ? scale_limit(byte_target, part, whole) : byte_target,
        .entry_count = whole != 0 ? scale_limit(count_target, part, whole) : count_target,
        .age_ns = directory->max_age_ns,
    };
}

/* Returns how long the store has been closing. */
static uint64_t ending_for_ns(const struct directory *directory)
{
    const uint64_t began_ns = atomic_load_explicit(&directory->evictor.ending_ns, memory_order_relaxed);
    const uint64_t now_ns = began_ns != 0 ? files_steady_clock_ns() : 0;
    return began_ns != 0 && now_ns > began_ns ? now_ns - began_ns : 0;
}

/* The watch of an eviction by the store itself. */
struct own_watch {
    const struct directory *directory;
    bool is_small;
    bool is_removing;
    uint64_t began_ns; /* of an eviction by a thread that stores; 0: the store's own thread, which has more time */
};

static ingot_status_t goes_on(const ingot_persist_upkeep_progress_t *so_far, void *user)
{
    const struct own_watch *own = user;
    bool ends = false;
    if (own->is_small)
        ends = !own->is_removing && so_far->entry_count > 2 * EVICT_SMALL;
    else if (own->began_ns != 0)
        ends = files_steady_clock_ns() - own->began_ns > (own->is_removing ? 2 * MAX_SAMPLE_NS : MAX_SAMPLE_NS);
    else
        ends = ending_for_ns(own->directory) > (own->is_removing ? MAX_ENDING_NS : MAX_COUNTING_NS);
    return ends ? INGOT_BUSY : INGOT_SUCCESS;
}

/* Notes the time of the oldest entry that is left. Requires a sorted survey. */
static void note_oldest(struct directory *directory, const struct survey *survey, uint64_t removed_count)
{
    const uint64_t oldest_ns =
        removed_count < survey->entry_count ? survey_entry_at(survey, removed_count)->time_ns : files_wall_clock_ns();
    atomic_store_explicit(&directory->oldest_ns, oldest_ns != 0 ? oldest_ns : 1, memory_order_relaxed);
}

/* Counts a small store under the lock, which takes some milliseconds at most, and sets its total. */
static ingot_status_t count_small(const struct root *root, struct survey *survey, struct upkeep_watch *watch)
{
    struct account account;
    ingot_status_t status =
        account_begin(root, root->directory->name_space, account_deadline(root->directory), &account);
    if (status != INGOT_SUCCESS)
        return status;
    status = survey_init(survey, root, root->directory->name_space, watch);
    if (status == INGOT_SUCCESS && watch->ended == INGOT_SUCCESS && survey->unread_count == 0)
        status = account_set(&account, survey->total_bytes, survey->entry_count);
    account_end(&account);
    return status;
}

/* Counts a store of any size without the lock, and corrects its total, unless that might become too low because
 * entries could not be read. */
static ingot_status_t count_any(const struct root *root, struct survey *survey, struct upkeep_watch *watch)
{
    const ingot_status_t status = survey_init(survey, root, root->directory->name_space, watch);
    const uint64_t part = survey->read_count;
    const uint64_t whole = survey->bucket_count;
    if (status != INGOT_SUCCESS || survey->unread_count != 0 || (part == 0 && whole != 0))
        return status;
    return account_correct(root, root->directory->name_space, &survey_name_space_at(survey, 0)->before,
                           sum_of_all(survey->total_bytes, part, whole), sum_of_all(survey->entry_count, part, whole));
}

/*
 * Counts the entries of the store's namespace, and corrects size.txt. Evicts entries that are over the age limit. If an
 * entry of wanted_bytes does not fit (0: if the entries exceed a limit), also evicts the oldest entries down to the
 * low-water mark, and further ones until the entry fits. Sets *is_sample if counting ended early: then the counted
 * buckets stand for all. With is_small, counts under the lock; if counting ends early, corrects and evicts nothing.
 */
static ingot_status_t evict_entries(const struct root *root, uint64_t wanted_bytes, bool is_small, uint64_t began_ns,
                                    bool *is_sample)
{
    const uint64_t started_ns = files_steady_clock_ns();
    struct own_watch own = {root->directory, is_small, false, began_ns};
    struct upkeep_watch watch = upkeep_watch_of(goes_on, &own);
    struct survey survey = {.watch = &watch};
    ingot_status_t status = is_small        ? count_small(root, &survey, &watch)
                            : began_ns == 0 ? count_any(root, &survey, &watch)
                                            : survey_init(&survey, root, root->directory->name_space, &watch);
    *is_sample = watch.ended != INGOT_SUCCESS;
    watch.ended = INGOT_SUCCESS;
    own.is_removing = true;
    if (status == INGOT_SUCCESS && !(*is_sample && (is_small || survey.read_count == 0))) {
        const struct evict_limits limits = limits_for(root->directory, &survey, wanted_bytes);
        status = remove_oldest(root, &survey, &limits, &watch);
    }
    if (status == INGOT_SUCCESS && !*is_sample)
        note_oldest(root->directory, &survey, watch.progress.removed_count);
    if (watch.progress.removed_count != 0)
        forget_old_index(root, root->directory->name_space);
    survey_fini(&survey);
    tell_evicted_entries(root->directory, status, started_ns, root->directory->order->reason, &watch);
    return status;
}

/* ---- the thread ---- */

static void *run_evictor_thread(void *user)
{
    struct directory *directory = user;
    struct evictor *evictor = &directory->evictor;
    struct root root;
    bool is_sample;
    pthread_mutex_lock(&evictor->lock);
    const uint64_t wanted_bytes = evictor->wanted_bytes;
    evictor->wanted_bytes = 0;
    pthread_mutex_unlock(&evictor->lock);
    if (root_open_existing(directory, &root) == INGOT_SUCCESS)
        (void)evict_entries(&root, wanted_bytes, false, 0, &is_sample);
    root_close(&root);
    if (is_orphan)
        return NULL;
    pthread_mutex_lock(&evictor->lock);
    evictor->is_running = false;
    pthread_mutex_unlock(&evictor->lock);
    return NULL;
}

/* Starts the thread. Requires the lock. */
static void start_evictor_thread(struct directory *directory)
{
    struct evictor *evictor = &directory->evictor;
    if (evictor->has_thread)
        thread_join(evictor->thread); /* it has ended, or is about to */
    evictor->has_thread = evictor->is_running = thread_start(&evictor->thread, run_evictor_thread, directory);
}

void evict_in_thread(struct directory *directory, uint64_t wanted_bytes, bool is_urgent)
{
    struct evictor *evictor = &directory->evictor;
    const uint64_t now_ns = files_steady_clock_ns();
    pthread_mutex_lock(&evictor->lock);
    if (is_urgent || evictor->began_ns == 0 || now_ns - evictor->began_ns >= LEISURE_NS) {
        if (evictor->wanted_bytes < wanted_bytes)
            evictor->wanted_bytes = wanted_bytes;
        if (!evictor->is_running) {
            evictor->began_ns = now_ns;
            start_evictor_thread(directory);
        }
    }
    pthread_mutex_unlock(&evictor->lock);
}

void evict_fini(struct directory *directory)
{
    struct evictor *evictor = &directory->evictor;
    atomic_store_explicit(&evictor->ending_ns, files_steady_clock_ns(), memory_order_relaxed);
    pthread_mutex_lock(&evictor->lock);
    const bool has_thread = evictor->has_thread;
    pthread_mutex_unlock(&evictor->lock);
    is_orphan = has_thread && pthread_equal(evictor->thread, pthread_self()) != 0;
    if (is_orphan)
        (void)pthread_detach(evictor->thread);
    else if (has_thread)
        thread_join(evictor->thread);
    pthread_mutex_destroy(&evictor->lock);
}

ingot_status_t evict_from_small(const struct root *root, uint64_t wanted_bytes, bool *is_done)
{
    bool is_sample = false;
    const ingot_status_t status = evict_entries(root, wanted_bytes, true, 0, &is_sample);
    *is_done = status == INGOT_SUCCESS && !is_sample;
    if (status == INGOT_SUCCESS)
        atomic_store_explicit(&root->directory->evictor.large_ns, is_sample ? files_steady_clock_ns() : 0,
                              memory_order_relaxed);
    return status;
}

ingot_status_t evict_from_sample(const struct root *root, uint64_t wanted_bytes, bool *is_done)
{
    struct evictor *evictor = &root->directory->evictor;
    const uint64_t now_ns = files_steady_clock_ns();
    bool is_sample;
    pthread_mutex_lock(&evictor->lock);
    *is_done = evictor->began_ns == 0;
    evictor->began_ns = *is_done ? now_ns : evictor->began_ns;
    pthread_mutex_unlock(&evictor->lock);
    return *is_done ? evict_entries(root, wanted_bytes, false, now_ns, &is_sample) : INGOT_SUCCESS;
}

bool evict_knows_large(const struct directory *directory)
{
    const uint64_t large_ns = atomic_load_explicit(&directory->evictor.large_ns, memory_order_relaxed);
    return large_ns != 0 && files_steady_clock_ns() - large_ns < LEISURE_NS;
}

void evict_expired(const struct root *root)
{
    bool is_done = false;
    const uint64_t oldest_ns = atomic_load_explicit(&root->directory->oldest_ns, memory_order_relaxed);
    if (root->directory->max_age_ns == UINT64_MAX ||
        (oldest_ns != 0 && directory_age_ns(files_wall_clock_ns(), oldest_ns) <= root->directory->max_age_ns))
        return;
    (void)evict_from_small(root, 0, &is_done);
    if (!is_done)
        evict_in_thread(root->directory, 0, false);
}

/* ---- counting on request ---- */

/* True if only the store's owner may write to a namespace. */
static bool is_private(const struct root *root, const char *name_space)
{
    struct file_facts facts;
    return files_facts_at(root->fd, name_space[0] != '\0' ? name_space : ".", &facts) == 0 &&
           files_are_private(&facts, root->directory->owner);
}

ingot_status_t evict_recount(const struct root *root, const char *name_space, struct upkeep_watch *watch,
                             ingot_persist_count_t *count)
{
    struct survey survey;
    bool is_any_in_use = false;
    count->is_recorded = 1;
    ingot_status_t status = survey_init(&survey, root, name_space, watch);
    for (size_t i = 0; i < survey.name_space_count && status == INGOT_SUCCESS; ++i) {
        const struct survey_name_space *each = survey_name_space_at(&survey, i);
        if ((!each->is_recorded && each->entry_count == 0) || !is_private(root, each->name))
            continue; /* perhaps an unrelated directory */
        is_any_in_use = true;
        count->is_recorded = count->is_recorded && each->is_recorded;
        count->recorded_bytes += each->before.bytes;
        count->entry_count += each->entry_count;
        count->counted_bytes += each->total_bytes;
        if (watch->ended != INGOT_SUCCESS || each->unread_count != 0 || root->directory->is_read_only)
            continue;
        status = account_correct(root, each->name, &each->before, each->total_bytes, each->entry_count);
        forget_old_index(root, each->name);
    }
    survey_fini(&survey);
    count->is_recorded = count->is_recorded && is_any_in_use;
    return status;
}
