/*
 * evict.c - keeping a store below its limit, and its total right.
 *
 * One process at a time counts and evicts (byte 1 of the lock file). The total is locked only for a batch of renames;
 * files are deleted afterwards, with nothing locked but byte 1. What was counted without the lock is reconciled with
 * what others stored meanwhile by the change of the total in that time.
 */
#include "persist/evict.h"

#include <ingot/backend.h>
#include <string.h>

#include "persist/account.h"
#include "persist/bucket.h"
#include "persist/events.h"
#include "persist/files.h"
#include "persist/survey.h"
#include "persist/temporary.h"

#define BATCH 16u

/* One pass. */
struct eviction {
    struct directory *directory;
    struct survey survey;
    uint64_t deadline_ns;
    size_t next;            /* of the survey's entries */
    uint64_t total_bytes;   /* as of the last time it was locked */
    uint64_t evicted_bytes; /* so far */
    uint64_t evicted_count;
    bool is_everything;     /* to go, whatever the total says */
};

/* Counts the entries and sets the total to what they take; a known total's change meanwhile is kept. */
static ingot_status_t count(struct eviction *eviction, const struct account *before, const char *name_space)
{
    struct account now;
    ingot_status_t status = survey_init(&eviction->survey, eviction->directory, name_space);
    if (status != INGOT_SUCCESS)
        return status;
    if (name_space != NULL)
        return INGOT_SUCCESS; /* a part tells nothing of the total */
    eviction->deadline_ns = account_deadline(eviction->directory); /* counting may have taken longer than a lock may */
    status = account_begin(eviction->directory, eviction->deadline_ns, &now);
    if (status != INGOT_SUCCESS)
        return status;
    const uint64_t counted = eviction->survey.total_bytes;
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

static bool is_over(const struct eviction *eviction, uint64_t target_bytes)
{
    return eviction->next < eviction->survey.entry_count &&
           (eviction->is_everything || eviction->total_bytes > target_bytes);
}

/* Renames up to BATCH entries away under the lock, then deletes them. */
static ingot_status_t evict_batch(struct eviction *eviction, int tmp, uint64_t target_bytes)
{
    char names[BATCH][PATH_CAPACITY];
    size_t count_aside = 0;
    const struct survey *survey = &eviction->survey;
    struct directory *directory = eviction->directory;
    struct account account;
    const ingot_status_t status = account_begin(directory, eviction->deadline_ns, &account);
    if (status != INGOT_SUCCESS)
        return status;
    eviction->total_bytes = account.total_bytes;
    while (count_aside < BATCH && is_over(eviction, target_bytes)) {
        const struct survey_entry *entry = &survey->entries[eviction->next++];
        char path[PATH_CAPACITY];
        survey_path(survey, entry, path);
        if (!bucket_put_aside(directory, path, entry->inode, tmp, &account, names[count_aside]))
            continue;
        eviction->total_bytes = account.is_known ? account.total_bytes : 0;
        eviction->evicted_bytes += entry->bytes;
        ++count_aside;
    }
    account_write(&account);
    account_end(&account);

    for (size_t i = 0; i < count_aside; ++i)
        temporary_delete(tmp, names[i]);
    eviction->evicted_count += count_aside;
    return INGOT_SUCCESS;
}

/* Buckets that may have become empty; those that did not refuse. */
static void remove_buckets(const struct eviction *eviction)
{
    for (size_t i = 0; i < eviction->next; ++i) {
        const struct survey_entry *entry = &eviction->survey.entries[i];
        char path[PATH_CAPACITY];
        paths_bucket(path, eviction->survey.name_spaces[entry->name_space], entry->bucket);
        (void)files_remove_directory(eviction->directory->root, path);
    }
}

static ingot_status_t evict_down_to(struct eviction *eviction, uint64_t target_bytes)
{
    int tmp;
    ingot_status_t status = temporary_open(eviction->directory, &tmp);
    if (status != INGOT_SUCCESS)
        return status;
    while (status == INGOT_SUCCESS && is_over(eviction, target_bytes)) {
        eviction->deadline_ns = account_deadline(eviction->directory); /* each batch may wait anew */
        status = evict_batch(eviction, tmp, target_bytes);
    }
    (void)files_close(tmp);
    remove_buckets(eviction);
    temporary_reclaim(eviction->directory);
    return status;
}

static ingot_status_t count_and_evict(struct eviction *eviction, uint64_t bytes)
{
    struct directory *directory = eviction->directory;
    struct account before;
    ingot_status_t status = account_begin(directory, eviction->deadline_ns, &before);
    if (status != INGOT_SUCCESS)
        return status;
    account_end(&before);
    if (account_has_room(directory, &before, bytes))
        return INGOT_SUCCESS; /* made by another while we waited */
    status = count(eviction, &before, NULL);
    if (status != INGOT_SUCCESS)
        return status;
    const struct account now = {.is_known = true, .total_bytes = eviction->total_bytes};
    if (account_has_room(directory, &now, bytes))
        return INGOT_SUCCESS;
    if (directory->eviction == INGOT_PERSIST_EVICT_OFF)
        return ingot_set_error_detail(INGOT_NO_SPACE, "the store is full and its eviction is off");
    survey_sort_by_creation(&eviction->survey);
    const uint64_t half = directory->max_bytes / 2;
    const uint64_t rest = directory->max_bytes - bytes;
    return evict_down_to(eviction, half < rest ? half : rest);
}

static void tell(const struct eviction *eviction, ingot_status_t status, uint64_t started_ns, const char *reason)
{
    if (eviction->evicted_count == 0)
        return;
    directory_count(&eviction->directory->counters.evictions, eviction->evicted_count);
    events_tell(eviction->directory, INGOT_EVENT_STORAGE_EVICT, status, eviction->evicted_bytes, started_ns, "",
                reason);
}

ingot_status_t evict_make_room(struct directory *directory, uint64_t bytes, uint64_t deadline_ns)
{
    const uint64_t started_ns = files_steady_clock_ns();
    struct eviction eviction = {.directory = directory, .deadline_ns = deadline_ns};
    int lock_fd;
    ingot_status_t status = account_lock_survey(directory, deadline_ns, &lock_fd);
    if (status != INGOT_SUCCESS)
        return status;
    eviction.survey.allocator = directory->allocator;
    status = count_and_evict(&eviction, bytes);
    survey_fini(&eviction.survey);
    account_unlock_survey(lock_fd);
    tell(&eviction, status, started_ns, "over the limit in bytes, oldest first");
    return status;
}

ingot_status_t evict_everything(struct directory *directory, const char *name_space, uint64_t deadline_ns)
{
    const uint64_t started_ns = files_steady_clock_ns();
    struct eviction eviction = {.directory = directory, .deadline_ns = deadline_ns, .is_everything = true};
    struct account before;
    int lock_fd;
    ingot_status_t status = account_lock_survey(directory, deadline_ns, &lock_fd);
    if (status != INGOT_SUCCESS)
        return status;
    eviction.survey.allocator = directory->allocator;
    status = account_begin(directory, deadline_ns, &before);
    if (status == INGOT_SUCCESS) {
        account_end(&before);
        status = count(&eviction, &before, name_space);
    }
    if (status == INGOT_SUCCESS)
        status = evict_down_to(&eviction, 0);
    survey_fini(&eviction.survey);
    account_unlock_survey(lock_fd);
    tell(&eviction, status, started_ns, "cleared");
    return status;
}
