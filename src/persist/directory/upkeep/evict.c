/*
 * evict.c - keeps a store below its limits by evicting a few entries at a time.
 *
 * The index determines which entries are evicted. A small index is read completely, so the order of eviction is exact.
 * From a large index, each round reads the next few pages. A bucket is a hash and determines the page of its records,
 * so these pages are a random sample. Of the sample, only the oldest sixteenth and the records over the age limit may
 * be evicted.
 */
#include "persist/directory/upkeep/evict.h"

#include <ingot/backend.h>
#include <string.h>

#include "persist/base/files.h"
#include "persist/directory/layout/bucket.h"
#include "persist/directory/layout/temporary.h"
#include "persist/storage/common/kinds.h"
#include "util/nanoseconds.h"

/* The largest index that is read completely, in pages. It has about 5,000 entries. */
#define EXACT_PAGES 128u
/* From a larger index, at least SAMPLE_PAGES pages and SAMPLE_RECORDS records are read, but at most SAMPLE_MOST_PAGES
 * pages. The oldest 1/SAMPLE_SHARE of these records may be evicted. */
#define SAMPLE_PAGES 4u
#define SAMPLE_RECORDS 64u
#define SAMPLE_MOST_PAGES 64u
#define SAMPLE_SHARE 16u
/* The time that storing one blob may spend on evictions towards the low-water mark. The number of entries that this
 * allows is estimated from the time per entry of the last eviction. */
#define DRAIN_BUDGET_NS UINT64_C(3000000)
#define DRAIN_LEAST 2u
/* The maximum number of eviction rounds when a store is opened. */
#define EXPIRY_ROUNDS 4u

/* Of the records that were read, those to evict first, in the order of eviction. */
struct choice {
    const struct eviction_order *order;
    uint64_t seen;
    uint64_t bytes;
    size_t count;
    struct index_record oldest[EVICT_BATCH];
};

static bool goes_before(const struct index_record *left, const struct index_record *right,
                        const struct eviction_order *order)
{
    const struct eviction_key left_key = {left->created_ns, left->last_use_s, left->bucket, left->number};
    const struct eviction_key right_key = {right->created_ns, right->last_use_s, right->bucket, right->number};
    return eviction_order_compare(order, &left_key, &right_key) < 0;
}

static void look_at(void *user, const struct index_record *record)
{
    struct choice *choice = user;
    ++choice->seen;
    choice->bytes += record->bytes;
    size_t at = choice->count;
    if (at == EVICT_BATCH) {
        if (!goes_before(record, &choice->oldest[at - 1], choice->order))
            return;
        --at;
    } else {
        ++choice->count;
    }
    for (; at > 0 && goes_before(record, &choice->oldest[at - 1], choice->order); --at)
        choice->oldest[at] = choice->oldest[at - 1];
    choice->oldest[at] = *record;
}

/* Reads some pages, starting at the cursor, and moves the cursor past them. */
static int choose_from_some(struct account *account, struct choice *choice)
{
    struct index_header *header = &account->header;
    const uint64_t most = header->page_count < SAMPLE_MOST_PAGES ? header->page_count : SAMPLE_MOST_PAGES;
    int result = 0;
    for (uint64_t i = 0; result == 0 && i < most && (i < SAMPLE_PAGES || choice->seen < SAMPLE_RECORDS); ++i) {
        const uint64_t page = header->cursor % header->page_count;
        result = index_visit(account->open.files.index.fd, header->page_count, page, look_at, choice);
        header->cursor = page + 1;
    }
    account->is_changed = true;
    return result;
}

/* Reads all pages, which also corrects the totals. */
static int choose_from_all(struct account *account, struct choice *choice)
{
    struct index_header *header = &account->header;
    int result = 0;
    for (uint64_t page = 0; result == 0 && page < header->page_count; ++page)
        result = index_visit(account->open.files.index.fd, header->page_count, page, look_at, choice);
    if (result == 0) {
        header->entry_count = choice->seen;
        header->total_bytes = choice->bytes;
        account->is_changed = true;
    }
    return result;
}

static uint64_t low_water(const struct directory *directory, uint64_t limit)
{
    const uint64_t percent = directory->low_water_percent;
    return limit == UINT64_MAX ? limit : limit / 100 * percent + limit % 100 * percent / 100;
}

/* Sets the low-water mark down to which entries are evicted from now on, because the store is full. The evictions
 * continue whenever any process stores a blob. */
static void begin_draining(struct account *account, uint64_t bytes, uint64_t entry_count)
{
    const struct directory *directory = account->directory;
    struct index_header *header = &account->header;
    const uint64_t max_bytes = directory->max_bytes; /* read once, because it may change */
    const uint64_t max_entries = directory->max_entries;
    const uint64_t rest_bytes = bytes < max_bytes ? max_bytes - bytes : 0;
    const uint64_t rest_entries = entry_count < max_entries ? max_entries - entry_count : 0;
    if (max_bytes != UINT64_MAX && header->total_bytes > rest_bytes) {
        const uint64_t low = low_water(directory, max_bytes);
        header->drain_bytes = low < rest_bytes ? low : rest_bytes;
    }
    if (max_entries != UINT64_MAX && header->entry_count > rest_entries) {
        const uint64_t low = low_water(directory, max_entries);
        header->drain_entries = low < rest_entries ? low : rest_entries;
    }
    account->is_changed = true;
}

/* True if evicting down to a low-water mark is in progress. A process with a larger limit does not go below its own
 * low-water mark. */
static bool is_draining(struct account *account)
{
    const struct directory *directory = account->directory;
    struct index_header *header = &account->header;
    if (header->total_bytes <= header->drain_bytes)
        header->drain_bytes = UINT64_MAX;
    if (header->entry_count <= header->drain_entries)
        header->drain_entries = UINT64_MAX;
    return (header->drain_bytes != UINT64_MAX && header->total_bytes > low_water(directory, directory->max_bytes)) ||
           (header->drain_entries != UINT64_MAX && header->entry_count > low_water(directory, directory->max_entries));
}

static bool is_expired(const struct eviction *eviction, const struct index_record *record)
{
    const struct directory *directory = eviction->account->directory;
    return directory_age_ns(directory, eviction->now_ns, record->created_ns, record->last_use_s * NS_PER_SECOND) >
           directory->max_age_ns;
}

/* Evicts one entry. If the entry has already vanished, drops its record and returns INGOT_NOT_FOUND. */
static ingot_status_t evict_one(struct eviction *eviction, const struct index_record *record)
{
    struct account *account = eviction->account;
    struct evicted_entry *entry = &eviction->entries[eviction->entry_count];
    const ingot_status_t status = bucket_put_aside(account, record->bucket, record->number, 0, entry->aside);
    if (status == INGOT_SUCCESS) {
        entry->bucket = record->bucket;
        ++eviction->entry_count;
        eviction->bytes += record->bytes;
    } else if (status == INGOT_NOT_FOUND) {
        account_begin_removing(account, record->bucket, record->number);
        account_end_removing(account);
        ++eviction->forgotten;
    }
    return status;
}

void evict_begin(struct eviction *eviction, struct account *account)
{
    eviction->account = account;
    eviction->started_ns = eviction->now_ns = 0;
    eviction->entry_count = eviction->forgotten = 0;
    eviction->bytes = 0;
}

static size_t drain_at_most(const struct directory *directory)
{
    const uint64_t cost_ns = atomic_load_explicit(&directory->eviction_cost_ns, memory_order_relaxed);
    const uint64_t most = cost_ns == 0 ? EVICT_BATCH : DRAIN_BUDGET_NS / cost_ns;
    return most < DRAIN_LEAST ? DRAIN_LEAST : most < EVICT_BATCH ? (size_t)most : EVICT_BATCH;
}

/* Evicts the chosen entries that are over the age limit. Of the first `most` chosen entries, also evicts as many as
 * necessary to make room, and some more towards the low-water mark. */
static ingot_status_t evict_chosen(struct eviction *eviction, const struct choice *choice, size_t most, uint64_t bytes,
                                   uint64_t entry_count)
{
    ingot_status_t result = INGOT_SUCCESS;
    const struct directory *directory = eviction->account->directory;
    const bool may_evict = directory->order->evicts;
    const size_t drain_most = drain_at_most(directory);
    for (size_t i = 0; i < choice->count; ++i) {
        const bool is_over = may_evict && (!account_has_room(eviction->account, bytes, entry_count) ||
                                           (eviction->entry_count < drain_most && is_draining(eviction->account)));
        if (!is_expired(eviction, &choice->oldest[i]) && !(is_over && i < most))
            break; /* all later entries are younger */
        const ingot_status_t status = evict_one(eviction, &choice->oldest[i]);
        if (status != INGOT_SUCCESS && status != INGOT_NOT_FOUND)
            result = status;
    }
    return result;
}

ingot_status_t evict_some(struct eviction *eviction, uint64_t bytes, uint64_t entry_count)
{
    struct account *account = eviction->account;
    struct directory *directory = account->directory;
    struct choice choice;
    choice.order = directory->order;
    choice.seen = choice.bytes = choice.count = 0;
    const bool may_evict = directory->order->evicts;
    const bool has_room = account_has_room(account, bytes, entry_count);
    if (!has_room && may_evict)
        begin_draining(account, bytes, entry_count);
    const bool is_over = may_evict && (!has_room || is_draining(account));
    const bool has_age_limit = directory->max_age_ns != UINT64_MAX; /* read once, because it may change */
    size_t most = EVICT_BATCH;
    int result = 0;
    ingot_status_t status = INGOT_SUCCESS;
    if (is_over || has_age_limit) { /* otherwise nothing is evicted, and the time is not needed */
        eviction->started_ns = files_steady_clock_ns();
        eviction->now_ns = files_wall_clock_ns();
    }
    if (is_over && account->header.page_count <= EXACT_PAGES) {
        result = choose_from_all(account, &choice);
    } else if (is_over || has_age_limit) {
        result = choose_from_some(account, &choice);
        most = choice.seen < SAMPLE_SHARE ? 1 : (size_t)(choice.seen / SAMPLE_SHARE);
    }
    if (result < 0)
        return files_read_failed(result, "reading", "index.bin");
    if (choice.count != 0) {
        status = temporary_ready(directory);
        if (status == INGOT_SUCCESS)
            status = evict_chosen(eviction, &choice, most, bytes, entry_count);
    }
    if (account_has_room(account, bytes, entry_count) || eviction->entry_count + eviction->forgotten != 0)
        return INGOT_SUCCESS;
    if (!may_evict)
        return ingot_set_error(INGOT_NO_SPACE, STORAGE_EXCLUDED_CODE, "the store is full and its eviction is off");
    return status != INGOT_SUCCESS
               ? status
               : ingot_set_error_detail(INGOT_NO_SPACE,
                                        "the store is full, and no entry was found that could be evicted");
}

void evict_end(struct eviction *eviction)
{
    struct directory *directory = eviction->account->directory;
    for (size_t i = 0; i < eviction->entry_count; ++i) {
        char path[PATH_CAPACITY];
        temporary_delete(directory, eviction->entries[i].aside);
        paths_bucket(path, eviction->account->name_space, eviction->entries[i].bucket);
        (void)files_remove_directory(directory->root.fd, path); /* fails if it is not empty */
    }
    if (eviction->entry_count == 0)
        return;
    /* relaxed, because it only serves as an estimate */
    atomic_store_explicit(&directory->eviction_cost_ns,
                          (files_steady_clock_ns() - eviction->started_ns) / eviction->entry_count,
                          memory_order_relaxed);
    counters_add(&directory->counters, COUNTER_EVICTIONS, eviction->entry_count);
    directory_tell(directory, INGOT_EVENT_STORAGE_EVICT, INGOT_SUCCESS, eviction->bytes, eviction->started_ns, "",
                   directory->order->reason);
}

void evict_expired(struct directory *directory)
{
    char path[PATH_CAPACITY];
    struct file_facts facts;
    account_files_path(path, directory->name_space, "index.bin");
    if (directory->max_age_ns == UINT64_MAX || files_facts_at(directory->root.fd, path, &facts) < 0)
        return;
    for (unsigned i = 0; i < EXPIRY_ROUNDS; ++i) {
        struct account account;
        struct eviction eviction;
        if (account_begin(directory, directory->name_space, 0, files_size_limit(), &account) != INGOT_SUCCESS)
            return;
        evict_begin(&eviction, &account);
        (void)evict_some(&eviction, 0, 0);
        account_end(&account);
        evict_end(&eviction);
    }
}
