/*
 * evict.c - keeping a store below its limits, and its total right.
 *
 * One process at a time counts and evicts (byte 1 of the lock file). The total is locked only for a batch of renames;
 * files are deleted afterwards, with nothing locked but byte 1. What was counted without the lock is reconciled with
 * what others stored meanwhile by the change of the total in that time.
 *
 * A store that finds no room lets as many entries go as it needs, and a slice more. What is left of the list is a plan
 * (eviction_plan.h): each of the next stores of the process lets a slice of it go, until the low-water mark is reached.
 */
#include "persist/evict.h"

#include <ingot/backend.h>
#include <string.h>

#include "persist/account.h"
#include "persist/bucket.h"
#include "persist/events.h"
#include "persist/eviction_plan.h"
#include "persist/files.h"
#include "persist/survey.h"
#include "persist/temporary.h"

#define BATCH 16u
/* What one store lets go at most beyond what it needs. */
#define SLICE 64u
/* How often a process that stores counts the entries while it stores as many as there may be. */
#define COUNTS_PER_LIMIT 10u

/* One pass. */
struct eviction {
    struct directory *directory;
    struct survey survey;
    bool is_sorted;
    const char *name_space; /* NULL: all of the store */
    struct evict_limits limits;
    uint64_t may_go_bytes; /* of a plan; else UINT64_MAX */
    uint64_t deadline_ns;
    uint64_t now_ns;
    uint64_t made_ns;     /* when the survey was, steady */
    size_t first;         /* of the survey's entries that this pass looks at */
    size_t next;
    uint64_t total_bytes; /* of what is looked at, as of the last time it was locked */
    struct evict_result result;
};

/* Lists the entries and sets the total to what they take; a known total's change meanwhile is kept. */
static ingot_status_t count(struct eviction *eviction, const struct account *before)
{
    struct account now;
    ingot_status_t status = survey_init(&eviction->survey, eviction->directory, eviction->name_space);
    const uint64_t counted = eviction->survey.total_bytes;
    eviction->made_ns = files_steady_clock_ns();
    eviction->is_sorted = false;
    eviction->first = eviction->next = 0;
    eviction->total_bytes = counted;
    if (status != INGOT_SUCCESS || eviction->name_space != NULL)
        return status; /* a part tells nothing of the total */
    eviction->deadline_ns = account_deadline(eviction->directory); /* counting may have taken longer than a lock may */
    status = account_begin(eviction->directory, eviction->deadline_ns, &now);
    if (status != INGOT_SUCCESS)
        return status;
    if (!before->is_known || !now.is_known) {
        now.total_bytes = counted;
    } else if (now.total_bytes >= before->total_bytes) {
        const uint64_t stored = now.total_bytes - before->total_bytes;
        now.total_bytes = counted;
        account_add(&now, stored);
    } else {
        const uint64_t removed = before->total_bytes - now.total_bytes;
        now.total_bytes = counted > removed ? counted - removed : 0;
    }
    now.is_known = true;
    eviction->total_bytes = now.total_bytes;
    account_write(&now);
    account_end(&now);
    return INGOT_SUCCESS;
}

/* Whether the next entry has to go. The order is that of age, so those that are too old come first. */
static bool is_over(const struct eviction *eviction)
{
    const struct survey *survey = &eviction->survey;
    if (eviction->next >= survey->entry_count || eviction->result.bytes >= eviction->may_go_bytes)
        return false;
    if (eviction->total_bytes > eviction->limits.bytes ||
        survey->entry_count - eviction->next > eviction->limits.entry_count)
        return true;
    const struct survey_entry *entry = &survey->entries[eviction->next];
    return directory_age_ns(eviction->directory, eviction->now_ns, entry->created_ns, entry->last_use_ns) >
           eviction->limits.age_ns;
}

static void note_gone(struct eviction *eviction, const struct survey_entry *entry, const struct account *account)
{
    ++eviction->result.entry_count;
    eviction->result.bytes += entry->bytes;
    if (eviction->name_space == NULL && account->is_known)
        eviction->total_bytes = account->total_bytes;
    else
        eviction->total_bytes -= entry->bytes < eviction->total_bytes ? entry->bytes : eviction->total_bytes;
}

/* Renames up to BATCH entries away under the lock, then deletes them. */
static ingot_status_t evict_batch(struct eviction *eviction)
{
    char aside[BATCH][PATH_CAPACITY];
    size_t count_aside = 0;
    const struct survey *survey = &eviction->survey;
    struct directory *directory = eviction->directory;
    struct account account;
    const ingot_status_t status = account_begin(directory, eviction->deadline_ns, &account);
    if (status != INGOT_SUCCESS)
        return status;
    if (eviction->name_space == NULL && account.is_known) /* else what was counted, less what has gone since */
        eviction->total_bytes = account.total_bytes;
    for (size_t looked_at = 0; looked_at < BATCH && is_over(eviction); ++looked_at) {
        const struct survey_entry *entry = &survey->entries[eviction->next++];
        char path[PATH_CAPACITY];
        survey_path(survey, entry, path);
        if (!bucket_put_aside(directory, path, entry->inode, entry->bytes, &account, aside[count_aside]))
            continue;
        ++count_aside;
        note_gone(eviction, entry, &account);
    }
    account_write(&account);
    account_end(&account);

    for (size_t i = 0; i < count_aside; ++i)
        temporary_delete(directory, aside[i]);
    return INGOT_SUCCESS;
}

/* Buckets that may have become empty; those that did not refuse. */
static void remove_buckets(const struct eviction *eviction)
{
    for (size_t i = eviction->first; i < eviction->next; ++i) {
        const struct survey_entry *entry = &eviction->survey.entries[i];
        char path[PATH_CAPACITY];
        paths_bucket(path, eviction->survey.name_spaces[entry->name_space], entry->bucket);
        (void)files_remove_directory(eviction->directory->root, path);
    }
}

static bool has_done_a_slice(const struct eviction *eviction, uint64_t enough_bytes)
{
    return eviction->total_bytes <= enough_bytes && eviction->next - eviction->first >= SLICE;
}

/* Down to the limits, or only to so many bytes and by a slice. */
static ingot_status_t evict_down(struct eviction *eviction, uint64_t enough_bytes)
{
    ingot_status_t status = temporary_ready(eviction->directory);
    if (status != INGOT_SUCCESS)
        return status;
    if (!eviction->is_sorted)
        survey_sort(&eviction->survey, eviction->directory->eviction);
    eviction->is_sorted = true;
    while (status == INGOT_SUCCESS && is_over(eviction) && !has_done_a_slice(eviction, enough_bytes)) {
        eviction->deadline_ns = account_deadline(eviction->directory); /* each batch may wait anew */
        status = evict_batch(eviction);
    }
    remove_buckets(eviction);
    if (!is_over(eviction))
        temporary_reclaim(eviction->directory);
    return status;
}

static bool take_plan(struct eviction *eviction)
{
    struct eviction_plan plan;
    if (!eviction_plan_take(eviction->directory, &plan))
        return false;
    survey_fini(&eviction->survey);
    eviction->survey = plan.survey;
    eviction->is_sorted = true;
    eviction->made_ns = plan.made_ns;
    eviction->may_go_bytes = plan.bytes;
    eviction->first = eviction->next = plan.next;
    return true;
}

/* What is left of it is for the next stores. */
static void leave_plan(struct eviction *eviction)
{
    const uint64_t bytes = eviction->may_go_bytes != UINT64_MAX ? eviction->may_go_bytes - eviction->result.bytes
                                                                : eviction->total_bytes - eviction->limits.bytes;
    struct eviction_plan plan = {eviction->survey, eviction->next, bytes, eviction->made_ns};
    eviction->survey = (struct survey){.allocator = eviction->directory->allocator};
    eviction_plan_leave(eviction->directory, &plan);
}

/* A count that took the lock anyway says when the next one is due: before the limit, and often enough to see others. */
static void set_countdown(struct eviction *eviction, uint64_t entry_count)
{
    struct directory *directory = eviction->directory;
    const uint64_t room = directory->max_entries > entry_count ? directory->max_entries - entry_count : 1;
    const uint64_t step = directory->max_entries / COUNTS_PER_LIMIT + 1;
    atomic_store_explicit(&directory->countdown, room < step ? room : step, memory_order_relaxed);
}

static uint64_t low_water(const struct directory *directory, uint64_t limit)
{
    const uint64_t percent = directory->low_water_percent;
    return limit / 100 * percent + limit % 100 * percent / 100;
}

/* Evicts where an entry of so many bytes does not fit. */
static ingot_status_t make_it_fit(struct eviction *eviction, uint64_t bytes)
{
    struct directory *directory = eviction->directory;
    const struct account now = {.is_known = true, .total_bytes = eviction->total_bytes};
    const size_t entry_count = eviction->survey.entry_count;
    const bool has_room = account_has_room(directory, &now, bytes);
    const bool is_countable = entry_count < directory->max_entries;
    eviction->limits = (struct evict_limits){UINT64_MAX, UINT64_MAX, directory->max_age_ns};
    if (has_room && is_countable) {
        set_countdown(eviction, entry_count);
        return INGOT_SUCCESS;
    }
    if (directory->eviction == INGOT_PERSIST_EVICT_OFF)
        return ingot_set_error_detail(INGOT_NO_SPACE, "the store is full and its eviction is off");
    uint64_t enough_bytes = 0;
    if (!has_room) {
        const uint64_t rest = directory->max_bytes - bytes;
        const uint64_t low = low_water(directory, directory->max_bytes);
        eviction->limits.bytes = low < rest ? low : rest;
    }
    if (!is_countable) {
        const uint64_t low = low_water(directory, directory->max_entries);
        eviction->limits.entry_count = low < directory->max_entries ? low : directory->max_entries - 1;
    }
    if (is_countable && directory->max_age_ns == UINT64_MAX) /* a plan knows bytes only */
        enough_bytes = directory->max_bytes - bytes;
    const ingot_status_t status = evict_down(eviction, enough_bytes);
    set_countdown(eviction, entry_count - eviction->next);
    if (status == INGOT_SUCCESS && is_over(eviction))
        leave_plan(eviction);
    return status;
}

/* Whether what an earlier store left to go was enough. */
static ingot_status_t go_on_to_fit(struct eviction *eviction, uint64_t bytes, bool *is_enough)
{
    struct directory *directory = eviction->directory;
    *is_enough = false;
    if (directory->max_entries != UINT64_MAX || !take_plan(eviction))
        return INGOT_SUCCESS;
    const ingot_status_t status = make_it_fit(eviction, bytes);
    *is_enough = status == INGOT_SUCCESS && eviction->total_bytes <= directory->max_bytes - bytes;
    return status;
}

/* The total as it is now. */
static ingot_status_t look_at_total(struct eviction *eviction, struct account *now)
{
    const ingot_status_t status = account_begin(eviction->directory, eviction->deadline_ns, now);
    if (status == INGOT_SUCCESS)
        account_end(now);
    return status;
}

static ingot_status_t count_and_evict(struct eviction *eviction, uint64_t bytes, bool is_count_due)
{
    struct directory *directory = eviction->directory;
    struct account before;
    ingot_status_t status = look_at_total(eviction, &before);
    if (status != INGOT_SUCCESS)
        return status;
    if (!is_count_due && account_has_room(directory, &before, bytes))
        return INGOT_SUCCESS; /* made by another while we waited */
    bool is_enough = false;
    if (!is_count_due && before.is_known) {
        eviction->total_bytes = before.total_bytes;
        status = go_on_to_fit(eviction, bytes, &is_enough);
        if (status != INGOT_SUCCESS || is_enough)
            return status;
        survey_fini(&eviction->survey);
        eviction->survey = (struct survey){.allocator = directory->allocator};
        eviction->may_go_bytes = UINT64_MAX;
        eviction->deadline_ns = account_deadline(directory);
        status = look_at_total(eviction, &before); /* what has gone by now must not be taken for others' doing */
        if (status != INGOT_SUCCESS)
            return status;
    }
    status = count(eviction, &before);
    return status == INGOT_SUCCESS ? make_it_fit(eviction, bytes) : status;
}

static struct eviction begin(struct directory *directory, uint64_t deadline_ns)
{
    struct eviction eviction = {
        .directory = directory,
        .may_go_bytes = UINT64_MAX,
        .deadline_ns = deadline_ns,
        .now_ns = files_wall_clock_ns(),
    };
    eviction.survey.allocator = directory->allocator;
    return eviction;
}

static void end(struct eviction *eviction, ingot_status_t status, uint64_t started_ns, const char *reason)
{
    survey_fini(&eviction->survey);
    if (eviction->result.entry_count == 0)
        return;
    directory_count(&eviction->directory->counters.evictions, eviction->result.entry_count);
    events_tell(eviction->directory, INGOT_EVENT_STORAGE_EVICT, status, eviction->result.bytes, started_ns, "", reason);
}

static const char *order_of(const struct directory *directory)
{
    return directory->eviction == INGOT_PERSIST_EVICT_LRU ? "over a limit, least recently used first"
                                                          : "over a limit, oldest first";
}

static ingot_status_t run_pass(struct directory *directory, uint64_t bytes, bool is_count_due, uint64_t deadline_ns)
{
    const uint64_t started_ns = files_steady_clock_ns();
    struct eviction eviction = begin(directory, deadline_ns);
    int lock_fd;
    ingot_status_t status = account_lock_survey(directory, deadline_ns, &lock_fd);
    if (status != INGOT_SUCCESS)
        return status;
    status = count_and_evict(&eviction, bytes, is_count_due);
    account_unlock_survey(lock_fd);
    end(&eviction, status, started_ns, order_of(directory));
    return status;
}

void evict_go_on(struct directory *directory)
{
    if (!eviction_plan_is_there(directory))
        return;
    const uint64_t started_ns = files_steady_clock_ns();
    struct eviction eviction = begin(directory, 0);
    int lock_fd;
    if (account_lock_survey(directory, 0, &lock_fd) != INGOT_SUCCESS)
        return;
    ingot_status_t status = INGOT_SUCCESS;
    if (take_plan(&eviction)) {
        eviction.limits =
            (struct evict_limits){low_water(directory, directory->max_bytes), UINT64_MAX, directory->max_age_ns};
        eviction.total_bytes = UINT64_MAX; /* until a batch has looked */
        status = evict_down(&eviction, UINT64_MAX);
        if (status == INGOT_SUCCESS && is_over(&eviction))
            leave_plan(&eviction);
    }
    account_unlock_survey(lock_fd);
    end(&eviction, status, started_ns, order_of(directory));
}

ingot_status_t evict_make_room(struct directory *directory, uint64_t bytes, uint64_t deadline_ns)
{
    return run_pass(directory, bytes, false, deadline_ns);
}

ingot_status_t evict_for_count(struct directory *directory, uint64_t bytes, uint64_t deadline_ns)
{
    if (directory->max_entries == UINT64_MAX)
        return INGOT_SUCCESS;
    uint64_t left = atomic_load_explicit(&directory->countdown, memory_order_relaxed);
    while (left != 0)
        if (atomic_compare_exchange_weak_explicit(&directory->countdown, &left, left - 1, memory_order_relaxed,
                                                  memory_order_relaxed))
            return INGOT_SUCCESS;
    const ingot_status_t status = run_pass(directory, bytes, true, deadline_ns);
    left = atomic_load_explicit(&directory->countdown, memory_order_relaxed);
    while (left != 0 && !atomic_compare_exchange_weak_explicit(&directory->countdown, &left, left - 1,
                                                               memory_order_relaxed, memory_order_relaxed)) {
    }
    return status == INGOT_NO_SPACE ? status : INGOT_SUCCESS;
}

ingot_status_t evict_to_limits(struct directory *directory, const char *name_space, const struct evict_limits *limits,
                               const char *reason, struct evict_result *result)
{
    const uint64_t started_ns = files_steady_clock_ns();
    struct eviction eviction = begin(directory, account_deadline(directory));
    struct account before;
    int lock_fd;
    *result = (struct evict_result){0, 0};
    ingot_status_t status = account_lock_survey(directory, eviction.deadline_ns, &lock_fd);
    if (status != INGOT_SUCCESS)
        return status;
    eviction.limits = *limits;
    eviction.name_space = name_space;
    status = look_at_total(&eviction, &before);
    if (status == INGOT_SUCCESS)
        status = count(&eviction, &before);
    if (status == INGOT_SUCCESS)
        status = evict_down(&eviction, 0);
    account_unlock_survey(lock_fd);
    *result = eviction.result;
    end(&eviction, status, started_ns, reason);
    return status;
}

static ingot_status_t count_only(struct eviction *eviction, ingot_persist_count_t *count)
{
    count->is_recorded = account_peek(eviction->directory, &count->recorded_bytes);
    return survey_init(&eviction->survey, eviction->directory, NULL);
}

static ingot_status_t count_and_record(struct eviction *eviction, ingot_persist_count_t *counted)
{
    struct account before;
    int lock_fd;
    ingot_status_t status = account_lock_survey(eviction->directory, eviction->deadline_ns, &lock_fd);
    if (status != INGOT_SUCCESS)
        return status;
    status = look_at_total(eviction, &before);
    if (status == INGOT_SUCCESS) {
        counted->is_recorded = before.is_known;
        counted->recorded_bytes = before.is_known ? before.total_bytes : 0;
        status = count(eviction, &before);
    }
    account_unlock_survey(lock_fd);
    return status;
}

ingot_status_t evict_recount(struct directory *directory, ingot_persist_count_t *count)
{
    struct eviction eviction = begin(directory, account_deadline(directory));
    const ingot_status_t status =
        directory->is_read_only ? count_only(&eviction, count) : count_and_record(&eviction, count);
    count->entry_count = eviction.survey.entry_count;
    count->counted_bytes = eviction.survey.total_bytes;
    survey_fini(&eviction.survey);
    return status;
}
