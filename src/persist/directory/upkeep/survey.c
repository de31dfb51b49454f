/*
 * survey.c - lists the namespaces and all entries of a store.
 *
 * A survey takes time in proportion to the store's size. It is therefore made only on request, and never while an
 * account is locked.
 */
#include "persist/directory/upkeep/survey.h"

#include <errno.h>
#include <ingot/backend.h>
#include <stdlib.h>
#include <string.h>

#include "persist/base/files.h"
#include "persist/base/memory.h"
#include "persist/directory/format/entry.h"
#include "persist/directory/format/index.h"
#include "persist/directory/layout/account_files.h"
#include "util/nanoseconds.h"

#define FIRST_CAPACITY 64u

/* Makes room for one more item. Returns NULL if there is no memory. */
static void *grow(struct survey *survey, void *items, size_t count, size_t *capacity, size_t item_size)
{
    if (count < *capacity)
        return items;
    const size_t wanted = *capacity == 0 ? FIRST_CAPACITY : *capacity * 2;
    void *larger = wanted > SIZE_MAX / item_size ? NULL : memory_allocate(&survey->allocator, wanted * item_size);
    if (larger == NULL) {
        survey->is_out_of_memory = true;
        return NULL;
    }
    if (count != 0)
        memcpy(larger, items, count * item_size);
    memory_free(&survey->allocator, items, *capacity * item_size);
    *capacity = wanted;
    return larger;
}

static bool add_bucket(struct survey *survey, uint64_t bucket)
{
    uint64_t *buckets = grow(survey, survey->buckets, survey->bucket_count, &survey->bucket_capacity, sizeof(*buckets));
    if (buckets == NULL)
        return false;
    survey->buckets = buckets;
    survey->buckets[survey->bucket_count++] = bucket;
    return true;
}

static bool add_name_space(struct survey *survey, const char *name)
{
    char(*name_spaces)[NAMESPACE_MAX + 1] =
        grow(survey, survey->name_spaces, survey->name_space_count, &survey->name_space_capacity, sizeof(*name_spaces));
    if (name_spaces == NULL)
        return false;
    survey->name_spaces = name_spaces;
    memcpy(survey->name_spaces[survey->name_space_count++], name, strlen(name) + 1);
    return true;
}

static bool visit_root(void *user, const char *name)
{
    uint64_t bucket;
    if (paths_parse_number(name, UINT64_MAX, &bucket))
        return add_bucket(user, bucket);
    return paths_is_namespace(name) ? add_name_space(user, name) : true;
}

static bool visit_name_space(void *user, const char *name)
{
    uint64_t bucket;
    return paths_parse_number(name, UINT64_MAX, &bucket) ? add_bucket(user, bucket) : true;
}

/* The bucket that visit_bucket is reading. */
struct reading {
    struct survey *survey;
    const struct directory *directory;
    uint64_t bucket;
    uint32_t name_space;
    int index_fd; /* negative if there is no valid index */
    struct index_header index;
};

static void read_entry(const struct entry_place *place, struct survey_entry *into)
{
    struct key_file key;
    const ingot_status_t status = entry_read_header(place, &key);
    if (status == INGOT_SUCCESS) {
        into->created_ns = key.created_ns;
        into->last_use_ns = key.last_use_ns;
        into->bytes = entry_bytes_beside(place, &key);
        return;
    }
    if (status == INGOT_BLOB_VERSION)
        into->created_ns = into->last_use_ns = entry_modified_ns(place);
    into->bytes = entry_bytes(place->at, place->path);
}

int survey_read(const struct directory *directory, const char *name_space, uint64_t bucket, uint32_t number,
                struct survey_entry *entry)
{
    char bucket_path[PATH_CAPACITY];
    char path[PATH_CAPACITY];
    struct file_facts facts;
    *entry = (struct survey_entry){.bucket = bucket, .number = number};
    paths_bucket(bucket_path, name_space, bucket);
    paths_entry(path, bucket_path, number);
    const int result = files_facts_at(directory->root.fd, path, &facts);
    if (result < 0)
        return result;
    if (!files_are_own(&facts, directory->owner) || !(facts.is_directory || facts.is_file))
        return 1;
    entry->inode = facts.inode;
    if (facts.is_directory) {
        const struct entry_place place = {directory->root.fd, path, directory->owner, BLOB_CHECKED_HERE};
        read_entry(&place, entry);
    }
    return 0;
}

/* Sets the time of the last use to the one in the index, if that is later. */
static void add_use(const struct reading *reading, struct survey_entry *found)
{
    struct index_place place;
    if (reading->index_fd < 0 || found->number > INDEX_MAX_NUMBER ||
        index_find(reading->index_fd, reading->index.page_count, found->bucket, found->number, &place) != 1)
        return;
    const uint64_t last_use_ns = place.record.last_use_s * NS_PER_SECOND;
    if (last_use_ns > found->last_use_ns)
        found->last_use_ns = last_use_ns;
}

static bool visit_bucket(void *user, const char *name)
{
    struct reading *reading = user;
    struct survey *survey = reading->survey;
    struct survey_entry found;
    uint64_t number;
    if (!paths_parse_number(name, UINT32_MAX, &number))
        return true;
    const int result = survey_read(reading->directory, survey->name_spaces[reading->name_space], reading->bucket,
                                   (uint32_t)number, &found);
    if (result < 0 && result != -ENOENT)
        ++survey->unread_count;
    if (result != 0)
        return true;
    found.name_space = reading->name_space;
    add_use(reading, &found);

    struct survey_entry *entries =
        grow(survey, survey->entries, survey->entry_count, &survey->entry_capacity, sizeof(*entries));
    if (entries == NULL)
        return false;
    survey->entries = entries;
    survey->entries[survey->entry_count++] = found;
    const uint64_t rest = UINT64_MAX - survey->total_bytes;
    survey->total_bytes += found.bytes < rest ? found.bytes : rest;
    return survey->watch == NULL || upkeep_watch_found(survey->watch, 1, found.bytes);
}

static void open_index(struct reading *reading)
{
    char path[PATH_CAPACITY];
    account_files_path(path, reading->survey->name_spaces[reading->name_space], "index.bin");
    reading->index_fd = files_open_read(reading->directory->root.fd, path);
    if (reading->index_fd >= 0 && index_read_header(reading->index_fd, &reading->index) != 1) {
        (void)files_close(reading->index_fd);
        reading->index_fd = -1;
    }
}

static int read_buckets(struct survey *survey, struct reading *reading)
{
    const struct upkeep_watch *watch = survey->watch;
    for (size_t i = 0; i < survey->bucket_count; ++i) {
        if (survey->is_out_of_memory || (watch != NULL && watch->is_ended))
            break;
        char path[PATH_CAPACITY];
        reading->bucket = survey->buckets[i];
        paths_bucket(path, survey->name_spaces[reading->name_space], reading->bucket);
        const int result = files_list(reading->directory->root.fd, path, visit_bucket, reading);
        if (result == -EMFILE || result == -ENFILE || result == -ENOMEM || result == -EIO)
            return result;
        if (result < 0 && result != -ENOENT && result != -ENOTDIR && result != -ELOOP)
            ++survey->unread_count;
    }
    survey->bucket_count = 0;
    return 0;
}

static int read_name_space(struct survey *survey, const struct directory *directory, uint32_t name_space)
{
    struct reading reading = {.survey = survey, .directory = directory, .name_space = name_space};
    open_index(&reading);
    const int result = read_buckets(survey, &reading);
    if (reading.index_fd >= 0)
        (void)files_close(reading.index_fd);
    return result;
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(left, right);
}

static int read_all(struct survey *survey, const struct directory *directory, const char *only)
{
    int result = 0;
    if (only != NULL) {
        if (!add_name_space(survey, only))
            return -ENOMEM;
    } else {
        result = files_list(directory->root.fd, ".", visit_root, survey);
        if (result == 0)
            result = read_name_space(survey, directory, 0);
        /* makes the order independent of the file system; "" stays first */
        qsort(survey->name_spaces, survey->name_space_count, sizeof(*survey->name_spaces), compare_names);
    }
    for (uint32_t i = 1; i < survey->name_space_count && result == 0; ++i) {
        result = files_list(directory->root.fd, survey->name_spaces[i], visit_name_space, survey);
        if (result == -ENOENT || result == -ENOTDIR || result == -ELOOP) /* it is not a namespace */
            result = 0;
        if (result == 0)
            result = read_name_space(survey, directory, i);
    }
    return survey->is_out_of_memory ? -ENOMEM : result;
}

ingot_status_t survey_init(struct survey *survey, const struct directory *directory, const char *name_space,
                           struct upkeep_watch *watch)
{
    *survey = (struct survey){.allocator = directory->allocator, .watch = watch};
    const int result = add_name_space(survey, "") ? read_all(survey, directory, name_space) : -ENOMEM;
    return result < 0 ? files_read_failed(result, "listing", "the store") : INGOT_SUCCESS;
}

/* Sets *has_bucket and returns false at the first bucket, which ends the listing. */
static bool is_no_bucket(void *user, const char *name)
{
    uint64_t bucket;
    bool *has_bucket = user;
    *has_bucket = paths_parse_number(name, UINT64_MAX, &bucket);
    return !*has_bucket;
}

/* True if the name is that of a namespace in use, and not of an unrelated directory in the root. "" stands for the
 * root. */
static bool is_in_use(const struct directory *directory, const char *name)
{
    char path[PATH_CAPACITY];
    struct file_facts facts;
    bool has_bucket = false;
    const char *folder = name[0] != '\0' ? name : ".";
    if (files_facts_at(directory->root.fd, folder, &facts) < 0 || !facts.is_directory ||
        !files_are_private(&facts, directory->owner))
        return false;
    account_files_path(path, name, "index.bin");
    if (files_facts_at(directory->root.fd, path, &facts) == 0)
        return true;
    (void)files_list(directory->root.fd, folder, is_no_bucket, &has_bucket);
    return has_bucket;
}

ingot_status_t survey_init_name_spaces(struct survey *survey, const struct directory *directory, const char *name_space)
{
    *survey = (struct survey){.allocator = directory->allocator};
    int result = add_name_space(survey, name_space != NULL ? name_space : "") ? 0 : -ENOMEM;
    if (result == 0 && name_space == NULL)
        result = files_list(directory->root.fd, ".", visit_root, survey);
    if (survey->is_out_of_memory)
        result = -ENOMEM;
    size_t kept = 0;
    for (size_t i = 0; i < survey->name_space_count; ++i)
        if (is_in_use(directory, survey->name_spaces[i]))
            memmove(survey->name_spaces[kept++], survey->name_spaces[i], sizeof(survey->name_spaces[i]));
    survey->name_space_count = kept;
    return result < 0 ? files_read_failed(result, "listing", "the store") : INGOT_SUCCESS;
}

void survey_fini(struct survey *survey)
{
    memory_free(&survey->allocator, survey->entries, survey->entry_capacity * sizeof(*survey->entries));
    memory_free(&survey->allocator, survey->name_spaces, survey->name_space_capacity * sizeof(*survey->name_spaces));
    memory_free(&survey->allocator, survey->buckets, survey->bucket_capacity * sizeof(*survey->buckets));
}

static int order(uint64_t left, uint64_t right)
{
    return (left > right) - (left < right);
}

static int compare_places(const void *left_entry, const void *right_entry)
{
    const struct survey_entry *left = left_entry;
    const struct survey_entry *right = right_entry;
    int result = order(left->bucket, right->bucket);
    if (result == 0)
        result = order(left->number, right->number);
    return result != 0 ? result : order(left->name_space, right->name_space);
}

static int compare_by_order(const void *left_entry, const void *right_entry, void *order_of)
{
    const struct survey_entry *left = left_entry;
    const struct survey_entry *right = right_entry;
    const struct eviction_key left_key = {left->created_ns, left->last_use_ns, left->bucket, left->number};
    const struct eviction_key right_key = {right->created_ns, right->last_use_ns, right->bucket, right->number};
    const int result = eviction_order_compare(order_of, &left_key, &right_key);
    return result != 0 ? result : order(left->name_space, right->name_space);
}

void survey_sort(struct survey *survey, const struct eviction_order *eviction_order)
{
    if (survey->entry_count > 1)
        qsort_r(survey->entries, survey->entry_count, sizeof(*survey->entries), compare_by_order,
                (void *)eviction_order);
}

void survey_sort_by_place(struct survey *survey)
{
    if (survey->entry_count > 1)
        qsort(survey->entries, survey->entry_count, sizeof(*survey->entries), compare_places);
}

void survey_path(const struct survey *survey, const struct survey_entry *entry, char path[PATH_CAPACITY])
{
    char bucket_path[PATH_CAPACITY];
    paths_bucket(bucket_path, survey->name_spaces[entry->name_space], entry->bucket);
    paths_entry(path, bucket_path, entry->number);
}
