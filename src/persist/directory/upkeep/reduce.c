/*
 * reduce.c - evicts entries down to given limits, and recounts a store; both run on request and may take long.
 *
 * The lock is held for one entry, one page of the index or some buckets at a time. Whenever it is free, other threads
 * and processes can store blobs.
 */
#include "persist/directory/upkeep/reduce.h"

#include <errno.h>
#include <ingot/backend.h>
#include <string.h>

#include "persist/base/files.h"
#include "persist/directory/layout/bucket.h"
#include "persist/directory/layout/freshness.h"
#include "persist/directory/layout/savings_file.h"
#include "persist/directory/upkeep/adopt.h"
#include "persist/directory/upkeep/survey.h"

static bool is_over(const struct directory *directory, const struct reduce_limits *limits,
                    const struct survey_entry *entry, uint64_t bytes, uint64_t entry_count, uint64_t now_ns)
{
    return bytes > limits->bytes || entry_count > limits->entry_count ||
           directory_age_ns(directory, now_ns, entry->created_ns, entry->last_use_ns) > limits->age_ns;
}

/* Evicts entries until the limits are met. In the order of eviction, entries over the age limit come first. */
static ingot_status_t evict_to_limits(struct directory *directory, struct survey *survey,
                                      const struct reduce_limits *limits, struct upkeep_watch *watch,
                                      struct reduce_result *result)
{
    const uint64_t now_ns = files_wall_clock_ns();
    uint64_t bytes = survey->total_bytes;
    survey_sort(survey, directory->order);
    for (size_t i = 0; i < survey->entry_count && !watch->is_ended; ++i) {
        const struct survey_entry *entry = &survey->entries[i];
        if (!is_over(directory, limits, entry, bytes, survey->entry_count - i, now_ns))
            break;
        const ingot_status_t status = bucket_take_away(directory, survey->name_spaces[entry->name_space], entry->bucket,
                                                       entry->number, entry->inode, account_deadline(directory));
        if (status != INGOT_SUCCESS && status != INGOT_NOT_FOUND)
            return status;
        bytes -= entry->bytes < bytes ? entry->bytes : bytes; /* subtracted even if another process removed the entry */
        if (status != INGOT_SUCCESS)
            continue;
        ++result->entry_count;
        result->bytes += entry->bytes;
        (void)upkeep_watch_removed(watch, entry->bytes);
    }
    return INGOT_SUCCESS;
}

ingot_status_t reduce_to_limits(struct directory *directory, const char *name_space, const struct reduce_limits *limits,
                                const char *reason, struct upkeep_watch *watch, struct reduce_result *result)
{
    const uint64_t started_ns = files_steady_clock_ns();
    struct survey survey;
    *result = (struct reduce_result){0, 0};
    ingot_status_t status = survey_init(&survey, directory, name_space, watch);
    if (status == INGOT_SUCCESS)
        status = evict_to_limits(directory, &survey, limits, watch, result);
    survey_fini(&survey);
    if (result->entry_count != 0) {
        counters_add(&directory->counters, COUNTER_EVICTIONS, result->entry_count);
        directory_tell(directory, INGOT_EVENT_STORAGE_EVICT, status, result->bytes, started_ns, "", reason);
    }
    return status;
}

/* The records of one page. */
struct page_records {
    size_t count;
    struct index_record records[INDEX_PAGE_RECORDS];
};

static void collect(void *user, const struct index_record *record)
{
    struct page_records *page = user;
    page->records[page->count++] = *record;
}

static bool has_vanished(const struct account *account, const struct index_record *record)
{
    char bucket_path[PATH_CAPACITY];
    char path[PATH_CAPACITY];
    struct file_facts facts;
    paths_bucket(bucket_path, account->name_space, record->bucket);
    paths_entry(path, bucket_path, record->number);
    if (files_facts_at(account->directory->root.fd, path, &facts) != -ENOENT)
        return false;
    freshness_ask(account->directory, bucket_path); /* another machine may have stored it */
    return files_facts_at(account->directory->root.fd, path, &facts) == -ENOENT;
}

static ingot_status_t forget_vanished(struct account *account, uint64_t page)
{
    struct page_records records;
    records.count = 0;
    const int result = index_visit(account->open.files.index.fd, account->header.page_count, page, collect, &records);
    for (size_t i = 0; i < records.count; ++i) {
        const struct index_record *record = &records.records[i];
        if (!has_vanished(account, record))
            continue;
        account_begin_removing(account, record->bucket, record->number);
        account_end_removing(account);
    }
    return result < 0 ? files_read_failed(result, "reading", "index.bin") : INGOT_SUCCESS;
}

/* Adds the total and the counts that a namespace has recorded. */
static void add_recorded(const struct directory *directory, const char *name_space, ingot_persist_count_t *count)
{
    uint64_t bytes = 0;
    struct savings_counts saved;
    if (account_peek(directory, name_space, &bytes))
        count->recorded_bytes += bytes;
    else
        count->is_recorded = 0;
    (void)savings_file_read(directory, name_space, &saved);
    count->hits += saved.hits;
    count->builds += saved.builds;
    count->saved_ns += saved.saved_ns;
}

/* The recount of one namespace. */
struct recount {
    struct directory *directory;
    const char *name_space;
    struct upkeep_watch *watch;
    struct index_header header; /* as it was after the last step */
    uint64_t told_count;        /* entries and bytes already reported to the watch */
    uint64_t told_bytes;
};

/* Reports to the watch what the last step added to the totals. The caller must not hold the lock. */
static void tell(struct recount *recount)
{
    const struct index_header *header = &recount->header;
    const uint64_t count = header->entry_count > recount->told_count ? header->entry_count - recount->told_count : 0;
    const uint64_t bytes = header->total_bytes > recount->told_bytes ? header->total_bytes - recount->told_bytes : 0;
    recount->told_count += count;
    recount->told_bytes += bytes;
    (void)upkeep_watch_found(recount->watch, count, bytes);
}

/* Repeats a step until the step clears *goes_on or fails, or until the watch ends the work. Takes the lock again for
 * each step. */
static ingot_status_t do_step(struct recount *recount,
                              ingot_status_t (*step)(struct account *account, uint64_t number, bool *goes_on))
{
    bool goes_on = true;
    ingot_status_t status = INGOT_SUCCESS;
    for (uint64_t number = 0; goes_on && status == INGOT_SUCCESS && !recount->watch->is_ended; ++number) {
        struct directory *directory = recount->directory;
        struct account account;
        status =
            account_begin(directory, recount->name_space, account_deadline(directory), files_size_limit(), &account);
        if (status != INGOT_SUCCESS)
            break;
        status = step(&account, number, &goes_on);
        recount->header = account.header;
        account_end(&account);
        tell(recount);
    }
    return status;
}

static ingot_status_t step_forgetting(struct account *account, uint64_t number, bool *goes_on)
{
    const ingot_status_t status = forget_vanished(account, number);
    *goes_on = number + 1 < account->header.page_count;
    return status;
}

static ingot_status_t step_adopting(struct account *account, uint64_t number, bool *goes_on)
{
    if (number == 0)
        adopt_begin(account);
    const uint64_t position = account->header.scan_position;
    adopt_some(account, ADOPT_STEP);
    *goes_on = account->header.is_scanning;
    if (*goes_on && account->header.scan_position == position)
        return ingot_set_error_detail(INGOT_IO_ERROR, "the entries of the store could not be listed or accounted for");
    return INGOT_SUCCESS;
}

static ingot_status_t step_summing_up(struct account *account, uint64_t number, bool *goes_on)
{
    (void)number;
    *goes_on = false;
    return account_sum_up(account);
}

static ingot_status_t recount_name_space(struct directory *directory, const char *name_space,
                                         struct upkeep_watch *watch, ingot_persist_count_t *count)
{
    struct recount recount = {.directory = directory, .name_space = name_space, .watch = watch};
    if (count != NULL)
        add_recorded(directory, name_space, count);
    ingot_status_t status = do_step(&recount, step_forgetting);
    if (status == INGOT_SUCCESS && count != NULL)
        status = do_step(&recount, step_adopting);
    if (status == INGOT_SUCCESS)
        status = do_step(&recount, step_summing_up);
    if (count != NULL) {
        count->entry_count += recount.header.entry_count;
        count->counted_bytes += recount.header.total_bytes;
    }
    return status;
}

static ingot_status_t count_only(struct directory *directory, const struct survey *name_spaces, const char *name_space,
                                 struct upkeep_watch *watch, ingot_persist_count_t *count)
{
    struct survey survey;
    for (size_t i = 0; i < name_spaces->name_space_count; ++i)
        add_recorded(directory, name_spaces->name_spaces[i], count);
    const ingot_status_t status = survey_init(&survey, directory, name_space, watch);
    count->entry_count = survey.entry_count;
    count->counted_bytes = survey.total_bytes;
    survey_fini(&survey);
    return status;
}

ingot_status_t reduce_recount(struct directory *directory, const char *name_space, struct upkeep_watch *watch,
                              ingot_persist_count_t *count)
{
    struct survey survey;
    ingot_status_t status = survey_init_name_spaces(&survey, directory, name_space);
    if (count != NULL)
        count->is_recorded = survey.name_space_count != 0;
    if (status == INGOT_SUCCESS && directory->is_read_only && count != NULL)
        status = count_only(directory, &survey, name_space, watch, count);
    for (size_t i = 0; i < survey.name_space_count && status == INGOT_SUCCESS && !directory->is_read_only; ++i)
        status = recount_name_space(directory, survey.name_spaces[i], watch, count);
    survey_fini(&survey);
    return status;
}
