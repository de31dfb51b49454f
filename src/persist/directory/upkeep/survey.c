/*
 * survey.c - lists the namespaces and all entries of a store.
 *
 * A survey takes time in proportion to the store's size. It is therefore made only on request or in the store's own
 * thread, and never while an account is locked.
 */
#include "persist/directory/upkeep/survey.h"

#include <errno.h>
#include <ingot/backend.h>
#include <stdlib.h>
#include <string.h>

#include "persist/base/files.h"
#include "persist/directory/format/entry.h"
#include "persist/directory/layout/temporary.h"

static bool is_out_of_memory(const struct survey *survey)
{
    return survey->entries.failed || survey->name_spaces.failed || survey->buckets.failed;
}

static bool add_name_space(struct survey *survey, const char *name)
{
    struct survey_name_space added = {.entry_count = 0};
    memcpy(added.name, name, strlen(name) + 1);
    bytes_put(&survey->name_spaces, sizeof(added), &added);
    survey->name_space_count += !survey->name_spaces.failed;
    return !survey->name_spaces.failed;
}

static bool visit_root(void *user, const char *name)
{
    return paths_is_namespace(name) ? add_name_space(user, name) : true;
}

static bool visit_name_space(void *user, const char *name)
{
    struct survey *survey = user;
    uint64_t bucket;
    if (!paths_parse_number(name, UINT64_MAX, &bucket))
        return true;
    bytes_put(&survey->buckets, sizeof(bucket), &bucket);
    survey->bucket_count += !survey->buckets.failed;
    return !survey->buckets.failed;
}

/* The bucket that visit_bucket is reading. */
struct reading {
    struct survey *survey;
    const struct root *root;
    uint64_t written_ns; /* when the namespace was last written to, according to its file system */
    uint64_t bucket;
    uint32_t name_space;
};

/* Reads the facts of one entry. Returns a negated errno on failure, which is -ENOENT if there is no entry. Returns 1 if
 * the object there cannot be from this store: another user owns it or may write to it, or it is neither a directory nor
 * a file. */
static int read_entry_facts(const struct reading *reading, uint32_t number, struct survey_entry *entry)
{
    char path[PATH_CAPACITY];
    struct file_facts facts;
    *entry = (struct survey_entry){.bucket = reading->bucket, .number = number, .name_space = reading->name_space};
    survey_path(reading->survey, entry, path);
    const int result = files_facts_at(reading->root->fd, path, &facts);
    if (result < 0)
        return result;
    if (!files_are_own(&facts, reading->root->directory->owner) || !(facts.is_directory || facts.is_file))
        return 1;
    entry->inode = facts.inode;
    if (facts.is_directory)
        entry->bytes = entry_bytes(reading->root->fd, path, &entry->time_ns);
    return 0;
}

static bool visit_bucket(void *user, const char *name)
{
    const struct reading *reading = user;
    struct survey *survey = reading->survey;
    struct survey_entry found;
    uint64_t number;
    if (!paths_parse_number(name, UINT32_MAX, &number)) {
        char bucket_path[PATH_CAPACITY];
        paths_bucket(bucket_path, survey_name_space_at(survey, reading->name_space)->name, reading->bucket);
        if (paths_is_temporary(name))
            temporary_reclaim_from_bucket(reading->root, bucket_path, name, reading->written_ns);
        return true;
    }
    const int result = read_entry_facts(reading, (uint32_t)number, &found);
    if (result < 0 && result != -ENOENT)
        ++survey->unread_count;
    if (result != 0)
        return true;

    bytes_put(&survey->entries, sizeof(found), &found);
    if (survey->entries.failed)
        return false;
    ++survey->entry_count;
    struct survey_name_space *name_space = survey_name_space_at(survey, found.name_space);
    const uint64_t rest = UINT64_MAX - survey->total_bytes;
    survey->total_bytes += found.bytes < rest ? found.bytes : rest;
    name_space->total_bytes += found.bytes < rest ? found.bytes : rest;
    ++name_space->entry_count;
    return survey->watch == NULL || upkeep_watch_found(survey->watch, 1, found.bytes);
}

static bool is_ended(const struct survey *survey)
{
    return is_out_of_memory(survey) || (survey->watch != NULL && survey->watch->ended != INGOT_SUCCESS);
}

static int read_buckets(struct survey *survey, const struct root *root, uint32_t name_space)
{
    struct reading reading = {.survey = survey,
                              .root = root,
                              .written_ns = account_written_ns(root, survey_name_space_at(survey, name_space)->name),
                              .name_space = name_space};
    const uint64_t *buckets = (const uint64_t *)(const void *)survey->buckets.bytes;
    const size_t first = survey->bucket_count != 0 ? (size_t)(files_random() % survey->bucket_count) : 0;
    for (survey->read_count = 0; survey->read_count < survey->bucket_count && !is_ended(survey); ++survey->read_count) {
        char path[PATH_CAPACITY];
        reading.bucket = buckets[(first + survey->read_count) % survey->bucket_count];
        paths_bucket(path, survey_name_space_at(survey, name_space)->name, reading.bucket);
        const int result = files_list(root->fd, path, visit_bucket, &reading);
        if (result == -EMFILE || result == -ENFILE || result == -ENOMEM || result == -EIO)
            return result;
        if (result < 0 && result != -ENOENT && result != -ENOTDIR && result != -ELOOP)
            ++survey->unread_count;
    }
    return 0;
}

static int read_name_space(struct survey *survey, const struct root *root, uint32_t name_space)
{
    struct survey_name_space *into = survey_name_space_at(survey, name_space);
    const char *name = into->name;
    const uint64_t unread_before = survey->unread_count;
    survey->buckets.size = survey->bucket_count = 0;
    into->is_recorded = account_peek(root, name, &into->before);
    int result = files_list(root->fd, name[0] != '\0' ? name : ".", visit_name_space, survey);
    if (name[0] != '\0' && (result == -ENOENT || result == -ENOTDIR || result == -ELOOP)) /* it is not a namespace */
        return 0;
    if (name_space != 0 && (result == -EACCES || result == -EPERM)) { /* it was only found: perhaps another user's */
        ++survey->unread_count;
        result = 0;
    } else if (result == 0) {
        result = read_buckets(survey, root, name_space);
    }
    into->unread_count = survey->unread_count - unread_before;
    return result;
}

static int compare_name_spaces(const void *left, const void *right)
{
    return strcmp(((const struct survey_name_space *)left)->name, ((const struct survey_name_space *)right)->name);
}

/* Lists the names of the namespaces. */
static int list_name_spaces(struct survey *survey, const struct root *root, const char *only)
{
    int result = add_name_space(survey, only != NULL ? only : "") ? 0 : -ENOMEM;
    if (result == 0 && only == NULL)
        result = files_list(root->fd, ".", visit_root, survey);
    return is_out_of_memory(survey) ? -ENOMEM : result;
}

ingot_status_t survey_init(struct survey *survey, const struct root *root, const char *name_space,
                           struct upkeep_watch *watch)
{
    *survey = (struct survey){.watch = watch};
    bytes_writer_init(&survey->entries, &root->directory->allocator);
    bytes_writer_init(&survey->name_spaces, &root->directory->allocator);
    bytes_writer_init(&survey->buckets, &root->directory->allocator);
    int result = list_name_spaces(survey, root, name_space);
    if (survey->name_space_count > 1) /* makes the order independent of the file system; "" stays first */
        qsort(survey->name_spaces.bytes, survey->name_space_count, sizeof(struct survey_name_space),
              compare_name_spaces);
    for (uint32_t i = 0; i < survey->name_space_count && result == 0 && !is_ended(survey); ++i)
        result = read_name_space(survey, root, i);
    if (is_out_of_memory(survey))
        result = -ENOMEM;
    return result < 0 ? files_read_failed(result, "listing", "the store") : INGOT_SUCCESS;
}

void survey_fini(struct survey *survey)
{
    bytes_writer_fini(&survey->entries);
    bytes_writer_fini(&survey->name_spaces);
    bytes_writer_fini(&survey->buckets);
}

static int order_numbers(uint64_t left, uint64_t right)
{
    return (left > right) - (left < right);
}

static int compare_entry_places(const void *left_entry, const void *right_entry)
{
    const struct survey_entry *left = left_entry;
    const struct survey_entry *right = right_entry;
    int result = order_numbers(left->bucket, right->bucket);
    if (result == 0)
        result = order_numbers(left->number, right->number);
    return result != 0 ? result : order_numbers(left->name_space, right->name_space);
}

static int compare_times(const void *left_entry, const void *right_entry)
{
    const struct survey_entry *left = left_entry;
    const struct survey_entry *right = right_entry;
    const int result = order_numbers(left->time_ns, right->time_ns);
    return result != 0 ? result : compare_entry_places(left_entry, right_entry);
}

void survey_sort_by_time(struct survey *survey)
{
    if (survey->entry_count > 1)
        qsort(survey->entries.bytes, survey->entry_count, sizeof(struct survey_entry), compare_times);
}

void survey_sort_by_place(struct survey *survey)
{
    if (survey->entry_count > 1)
        qsort(survey->entries.bytes, survey->entry_count, sizeof(struct survey_entry), compare_entry_places);
}

void survey_path(const struct survey *survey, const struct survey_entry *entry, char path[PATH_CAPACITY])
{
    char bucket_path[PATH_CAPACITY];
    paths_bucket(bucket_path, survey_name_of(survey, entry), entry->bucket);
    paths_entry(path, bucket_path, entry->number);
}
