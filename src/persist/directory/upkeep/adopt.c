/*
 * adopt.c - adds the index records of entries that have none: entries of version 1 of the format, or all entries if the
 * index was lost.
 *
 * The namespace's directory is scanned a few names at a time. Whenever any process stores a blob, it continues the scan
 * where the last process stopped. The scan need not find an entry that is published meanwhile, because the entry's
 * writer adds the record.
 */
#include "persist/directory/upkeep/adopt.h"

#include <errno.h>

#include "persist/base/files.h"
#include "persist/directory/upkeep/survey.h"
#include "util/nanoseconds.h"

struct some_buckets {
    size_t count;
    uint64_t buckets[ADOPT_STEP];
};

static bool add_bucket(void *user, const char *name)
{
    struct some_buckets *some = user;
    if (paths_parse_number(name, UINT64_MAX, &some->buckets[some->count]))
        ++some->count;
    return true;
}

/* The state of adding the records of one bucket's entries. */
struct adoption {
    struct account *account;
    uint64_t bucket;
    ingot_status_t status;
};

static bool adopt_entry(void *user, const char *name)
{
    struct adoption *adoption = user;
    struct account *account = adoption->account;
    struct survey_entry found;
    uint64_t number;
    if (!paths_parse_number(name, INDEX_MAX_NUMBER, &number) ||
        survey_read(account->directory, account->name_space, adoption->bucket, (uint32_t)number, &found) != 0)
        return true;
    const uint64_t last_use_s = found.last_use_ns / NS_PER_SECOND;
    const struct index_record record = {
        .bucket = adoption->bucket,
        .created_ns = found.created_ns != 0 ? found.created_ns : 1, /* an unreadable entry counts as the oldest */
        .bytes = found.bytes,
        .number = (uint32_t)number,
        .last_use_s = last_use_s < UINT32_MAX ? (uint32_t)last_use_s : UINT32_MAX,
    };
    adoption->status = account_adopt(account, &record);
    return adoption->status == INGOT_SUCCESS;
}

void adopt_begin(struct account *account)
{
    account->header.is_scanning = true;
    account->header.scan_position = 0;
    account->is_changed = true;
}

void adopt_some(struct account *account, unsigned bucket_count)
{
    struct index_header *header = &account->header;
    struct some_buckets some = {.count = 0};
    struct adoption adoption = {.account = account, .status = INGOT_SUCCESS};
    uint64_t position = header->scan_position;
    if (!header->is_scanning || !account->may_write)
        return;
    const char *path = account->name_space[0] != '\0' ? account->name_space : ".";
    const int result = files_list_some(account->directory->root.fd, path, &position, bucket_count, add_bucket, &some);
    if (result < 0)
        return; /* the next call tries again */
    for (size_t i = 0; i < some.count && adoption.status == INGOT_SUCCESS; ++i) {
        char bucket_path[PATH_CAPACITY];
        adoption.bucket = some.buckets[i];
        paths_bucket(bucket_path, account->name_space, adoption.bucket);
        (void)files_list(account->directory->root.fd, bucket_path, adopt_entry, &adoption);
    }
    if (adoption.status != INGOT_SUCCESS)
        return;
    header->scan_position = position;
    header->is_scanning = result == 0;
    account->is_changed = true;
}
