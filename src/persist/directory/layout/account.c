/*
 * account.c - keeps the account of a namespace: its lock, its index, and the total in size.txt.
 *
 * The totals in the header of the index are authoritative. size.txt repeats one of them for people and tools, and no
 * decision depends on it. The lock is polled, because the kernel's own wait has no deadline. The first polls do not
 * pause, because the lock is usually held for only a few system calls.
 */
#include "persist/directory/layout/account.h"

#include <errno.h>
#include <ingot/backend.h>
#include <string.h>

#include "persist/base/files.h"
#include "persist/directory/format/entry.h"
#include "persist/directory/layout/freshness.h"
#include "util/digits.h"

#define SIZE_FILE_SIZE 21u
#define QUICK_POLLS 200u
#define FIRST_PAUSE_NS 20000u
#define LONGEST_PAUSE_NS 2000000u
#define MAX_HALVINGS 20u

uint64_t account_deadline(const struct directory *directory)
{
    const uint64_t now = files_steady_clock_ns();
    const unsigned timeouts = atomic_load_explicit(&directory->lock_timeouts, memory_order_relaxed);
    const uint64_t wait_ns = timeouts < MAX_HALVINGS ? directory->lock_timeout_ns >> timeouts : 0;
    return now > UINT64_MAX - wait_ns ? UINT64_MAX : now + wait_ns;
}

/* Notes whether the lock was free in time. A process that was stopped while it held the lock would otherwise cost each
 * store the whole timeout, without end. */
static void note_timeout(struct directory *directory, bool is_timeout)
{
    const unsigned timeouts = atomic_load_explicit(&directory->lock_timeouts, memory_order_relaxed);
    if (is_timeout ? timeouts < MAX_HALVINGS : timeouts != 0)
        atomic_store_explicit(&directory->lock_timeouts, is_timeout ? timeouts + 1 : 0, memory_order_relaxed);
}

static ingot_status_t lock_index(struct directory *directory, int index_fd, uint64_t deadline_ns)
{
    uint64_t pause_ns = FIRST_PAUSE_NS;
    int result = -EAGAIN;
    for (unsigned i = 0; i < QUICK_POLLS && result == -EAGAIN; ++i)
        result = files_try_lock_whole(index_fd);
    while (result == -EAGAIN && files_steady_clock_ns() < deadline_ns) {
        files_pause_ns(pause_ns);
        pause_ns = pause_ns * 2 < LONGEST_PAUSE_NS ? pause_ns * 2 : LONGEST_PAUSE_NS;
        result = files_try_lock_whole(index_fd);
    }
    if (result == 0 || deadline_ns != 0) /* without a deadline, the thread did not wait */
        note_timeout(directory, result == -EAGAIN);
    return result < 0 ? files_lock_failed(result, "index.bin") : INGOT_SUCCESS;
}

bool account_parse(size_t size, const char *text, uint64_t *total_bytes)
{
    size_t digits;
    uint64_t value;
    if (!digits_read(size, text, UINT64_MAX, &value, &digits) || digits > DIGITS_MAX)
        return false;
    for (size_t i = digits; i < size; ++i)
        if (text[i] != ' ' && text[i] != '\n')
            return false;
    *total_bytes = value;
    return true;
}

bool account_peek(const struct directory *directory, const char *name_space, uint64_t *total_bytes)
{
    char path[PATH_CAPACITY];
    char text[SIZE_FILE_SIZE + 1];
    size_t size = 0;
    account_files_path(path, name_space, "size.txt");
    const int fd = files_open_read(directory->root.fd, path);
    if (fd < 0)
        return false;
    const int result = files_read(fd, 0, sizeof(text), text, &size);
    (void)files_close(fd);
    return result == 0 && size <= SIZE_FILE_SIZE && account_parse(size, text, total_bytes);
}

static void write_total(const struct account *account)
{
    char text[SIZE_FILE_SIZE];
    char digits[PATH_CAPACITY];
    const int fd = account->open.files.size.fd;
    memset(text, ' ', sizeof(text));
    text[SIZE_FILE_SIZE - 1] = '\n';
    paths_number(digits, account->header.total_bytes);
    memcpy(text, digits, strlen(digits));
    (void)files_write_at(fd, 0, SIZE_FILE_SIZE, text);
    if (account->open.files.size_bytes > SIZE_FILE_SIZE)
        (void)files_truncate(fd, SIZE_FILE_SIZE);
}

static int index_fd_of(const struct account *account)
{
    return account->open.files.index.fd;
}

/* True if the entry of a record is in its place. If the header of the entry there cannot be read, assumes that it is
 * the record's entry. */
static bool is_in_place(const struct account *account, const struct index_record *record)
{
    char bucket_path[PATH_CAPACITY];
    char path[PATH_CAPACITY];
    struct file_facts facts;
    struct key_file key;
    const struct directory *directory = account->directory;
    paths_bucket(bucket_path, account->name_space, record->bucket);
    paths_entry(path, bucket_path, record->number);
    if (files_facts_at(directory->root.fd, path, &facts) < 0)
        return false;
    const struct entry_place place = {directory->root.fd, path, directory->owner, BLOB_CHECKED_HERE};
    return entry_read_header(&place, &key) != INGOT_SUCCESS || key.created_ns == record->created_ns;
}

static void add_to_totals(struct index_header *header, uint64_t bytes)
{
    ++header->entry_count;
    header->total_bytes = bytes > UINT64_MAX - header->total_bytes ? UINT64_MAX : header->total_bytes + bytes;
}

static void subtract_from_totals(struct index_header *header, uint64_t bytes)
{
    header->entry_count -= header->entry_count != 0 ? 1 : 0;
    header->total_bytes -= bytes < header->total_bytes ? bytes : header->total_bytes;
}

static void count_change(struct index_header *header)
{
    if (header->change == INDEX_CHANGE_ADD)
        add_to_totals(header, header->changed.bytes);
    else
        subtract_from_totals(header, header->changed.bytes);
}

/* True if the entry of the last change is in its place. A network file system may make the rename of a killed process
 * only after its lock is gone, so if the change is not there, looks again for a moment. */
static bool is_changed_in_place(const struct account *account)
{
    const struct index_header *header = &account->header;
    char bucket_path[PATH_CAPACITY];
    unsigned attempt = 0;
    bool is_there;
    paths_bucket(bucket_path, account->name_space, header->changed.bucket);
    freshness_ask(account->directory, bucket_path);
    do {
        is_there = is_in_place(account, &header->changed);
    } while (is_there != (header->change == INDEX_CHANGE_ADD) &&
             freshness_try_again(account->directory, bucket_path, &attempt));
    return is_there;
}

/* Completes or undoes a change that another process began under the lock, but did not finish before it ended. */
static int recover(struct account *account)
{
    struct index_header *header = &account->header;
    struct index_place place;
    const struct index_record changed = header->changed;
    const int fd = index_fd_of(account);
    const bool is_there = is_changed_in_place(account);
    int result = index_find(fd, header->page_count, changed.bucket, changed.number, &place);
    if (result < 0)
        return result;
    const bool has_record = result == 1 && place.record.created_ns == changed.created_ns;
    result = 0;
    if (is_there && !has_record)
        result = place.offset != 0 ? index_put(fd, place.offset, &changed) : -ENOSPC;
    else if (!is_there && has_record)
        result = index_free(fd, place.offset);
    if (result < 0)
        return result;
    if ((header->change == INDEX_CHANGE_ADD) == is_there)
        count_change(header);
    account->is_changed = true;
    return 0;
}

/* Finishes the last change, which the totals in the header do not include yet. If the record shows that the change was
 * completed, adds it to the totals; otherwise recovers. */
static int finish_change(struct account *account)
{
    struct index_header *header = &account->header;
    if (header->change == INDEX_CHANGE_NONE)
        return 0;
    int result = header->checksum == account->open.files.finished
                     ? header->change == INDEX_CHANGE_ADD /* this process completed it, so an added record is there */
                     : index_is_at(index_fd_of(account), header->changed_offset, &header->changed);
    if (result >= 0 && (header->change == INDEX_CHANGE_ADD) == (result == 1)) {
        count_change(header);
        result = 0;
    } else if (result >= 0) {
        result = account->may_write ? recover(account) : 0;
    }
    header->change = INDEX_CHANGE_NONE;
    return result;
}

/* Reads the header and finishes the last change. Replaces a damaged index with an empty one. */
static ingot_status_t read_header(struct account *account)
{
    int result = index_read_header(index_fd_of(account), &account->header);
    const uint64_t page_count = result == 1 ? account->header.page_count : 1;
    account->may_grow = index_page_offset(page_count + 1) <= account->file_limit;
    account->may_write = index_page_offset(page_count) <= account->file_limit;
    if (result == 0) {
        if (!account->may_write)
            return files_write_failed(-EFBIG, "making", "index.bin");
        result = index_reset(index_fd_of(account), &account->header);
        if (result == 0)
            result = index_write_header(index_fd_of(account), &account->header);
        account->is_changed = true;
    } else if (result == 1) {
        result = finish_change(account);
    }
    account->pages_before = account->header.page_count;
    return result < 0 ? files_write_failed(result, "reading", "index.bin") : INGOT_SUCCESS;
}

ingot_status_t account_begin(struct directory *directory, const char *name_space, uint64_t deadline_ns,
                             uint64_t file_limit, struct account *account)
{
    *account = (struct account){.directory = directory, .name_space = name_space, .file_limit = file_limit};
    /* opens the files before locking, so that the lock is held for less time */
    ingot_status_t status = account_files_get(directory, name_space, &account->open);
    if (status != INGOT_SUCCESS)
        return status;
    status = lock_index(directory, index_fd_of(account), deadline_ns);
    if (status == INGOT_SUCCESS) {
        status = read_header(account);
        if (status != INGOT_SUCCESS)
            (void)files_unlock_whole(index_fd_of(account));
    }
    if (status != INGOT_SUCCESS)
        account_files_give(&account->open);
    return status;
}

void account_end(struct account *account)
{
    struct index_header *header = &account->header;
    if (account->is_changed && account->may_write && index_write_header(index_fd_of(account), header) == 0 &&
        header->page_count < account->pages_before)
        (void)files_truncate(index_fd_of(account), index_page_offset(header->page_count));
    if ((account->is_changed || account->is_total_changed) && account->may_write)
        write_total(account);
    (void)files_unlock_whole(index_fd_of(account));
    account_files_give(&account->open);
}

bool account_has_room(const struct account *account, uint64_t bytes, uint64_t entry_count)
{
    const struct directory *directory = account->directory;
    const struct index_header *header = &account->header;
    const uint64_t max_bytes = directory->max_bytes; /* read once, because it may change */
    const uint64_t max_entries = directory->max_entries;
    return (max_bytes == UINT64_MAX ||
            (header->total_bytes <= max_bytes && bytes <= max_bytes - header->total_bytes)) &&
           (max_entries == UINT64_MAX ||
            (header->entry_count <= max_entries && entry_count <= max_entries - header->entry_count));
}

uint64_t account_size_of(const struct account *account, uint64_t bucket, uint32_t number)
{
    struct index_place place;
    return index_find(index_fd_of(account), account->header.page_count, bucket, number, &place) == 1
               ? place.record.bytes
               : 0;
}

/* Writes to the header which change is about to be made. Also writes all earlier changes of the header's fields. */
static int note_change(struct account *account, enum index_change change)
{
    struct index_header *header = &account->header;
    account->open.files.finished = 0;
    header->change = change;
    header->changed = account->place.record;
    header->changed_offset = account->place.offset;
    const int result = index_write_header(index_fd_of(account), header);
    account->is_changed = result < 0 || header->page_count < account->pages_before;
    return result;
}

ingot_status_t account_begin_adding(struct account *account, const struct index_record *record)
{
    struct index_header *header = &account->header;
    const int fd = index_fd_of(account);
    if (!account->may_write)
        return files_write_failed(-EFBIG, "writing", "index.bin");
    if (account->may_grow)
        (void)index_grow(fd, header); /* if this fails, the existing pages become fuller */
    account->may_grow = index_page_offset(header->page_count + 1) <= account->file_limit;
    int result = index_find(fd, header->page_count, record->bucket, record->number, &account->place);
    account->is_replacing = result == 1;
    account->replaced_bytes = result == 1 ? account->place.record.bytes : 0;
    if (result == 0 && account->place.offset == 0)
        result = -ENOSPC;
    if (result >= 0) {
        account->place.record = *record;
        result = note_change(account, INDEX_CHANGE_ADD);
    }
    return result < 0 ? files_write_failed(result, "writing", "index.bin") : INGOT_SUCCESS;
}

void account_end_adding(struct account *account)
{
    struct index_header *header = &account->header;
    header->change = INDEX_CHANGE_NONE;
    account->is_total_changed = true;
    if (index_put(index_fd_of(account), account->place.offset, &account->place.record) < 0) {
        header->is_scanning = true; /* the scan will add the entry's record */
        header->scan_position = 0;
        account->is_changed = true;
        return;
    }
    if (account->is_replacing) { /* the entry of the replaced record had already vanished */
        subtract_from_totals(header, account->replaced_bytes);
        account->is_changed = true;
    }
    add_to_totals(header, account->place.record.bytes);
    account->open.files.finished = header->checksum;
}

void account_begin_removing(struct account *account, uint64_t bucket, uint32_t number)
{
    const struct index_header *header = &account->header;
    const int found =
        account->may_write ? index_find(index_fd_of(account), header->page_count, bucket, number, &account->place) : 0;
    if (found == 1)
        (void)note_change(account, INDEX_CHANGE_REMOVE);
    else
        account->place.offset = 0;
}

void account_end_removing(struct account *account)
{
    struct index_header *header = &account->header;
    header->change = INDEX_CHANGE_NONE;
    if (account->place.offset == 0)
        return;
    if (index_free(index_fd_of(account), account->place.offset) < 0) {
        account->is_changed = true; /* the entry is counted until an eviction or a recount finds that it is gone */
        return;
    }
    subtract_from_totals(header, account->place.record.bytes);
    account->open.files.finished = header->checksum;
    account->is_total_changed = true;
    const uint64_t page_count = header->page_count;
    (void)index_shrink(index_fd_of(account), header);
    account->is_changed = account->is_changed || header->page_count != page_count;
}

void account_cancel(struct account *account)
{
    account->header.change = INDEX_CHANGE_NONE;
    account->is_changed = true;
}

ingot_status_t account_adopt(struct account *account, const struct index_record *record)
{
    struct index_place place;
    const int fd = index_fd_of(account);
    const int found = index_find(fd, account->header.page_count, record->bucket, record->number, &place);
    if (found != 0)
        return found < 0 ? files_read_failed(found, "reading", "index.bin") : INGOT_SUCCESS;
    const ingot_status_t status = account_begin_adding(account, record);
    if (status == INGOT_SUCCESS)
        account_end_adding(account);
    account->is_changed = true;
    return status;
}

struct sum {
    uint64_t total_bytes;
    uint64_t entry_count;
};

static void add_to_sum(void *user, const struct index_record *record)
{
    struct sum *sum = user;
    ++sum->entry_count;
    sum->total_bytes = record->bytes > UINT64_MAX - sum->total_bytes ? UINT64_MAX : sum->total_bytes + record->bytes;
}

ingot_status_t account_sum_up(struct account *account)
{
    struct index_header *header = &account->header;
    struct sum sum = {0, 0};
    for (uint64_t page = 0; page < header->page_count; ++page) {
        const int result = index_visit(index_fd_of(account), header->page_count, page, add_to_sum, &sum);
        if (result < 0)
            return files_read_failed(result, "reading", "index.bin");
    }
    header->total_bytes = sum.total_bytes;
    header->entry_count = sum.entry_count;
    account->is_changed = true;
    return INGOT_SUCCESS;
}
