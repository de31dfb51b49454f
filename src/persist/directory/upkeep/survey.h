/*
 * survey.h - lists everything in a store.
 */
#ifndef INGOT_PERSIST_DIRECTORY_UPKEEP_SURVEY_H
#define INGOT_PERSIST_DIRECTORY_UPKEEP_SURVEY_H

#include "persist/directory/layout/state.h"
#include "persist/directory/upkeep/watch.h"

/* One entry, with what is needed to sort and to find it. */
struct survey_entry {
    uint64_t created_ns;
    uint64_t last_use_ns;
    uint64_t bucket;
    uint64_t inode;
    uint64_t bytes;
    uint32_t number;
    uint32_t name_space; /* index into name_spaces of the survey */
};

struct survey {
    ingot_allocator_t allocator;
    struct survey_entry *entries;
    size_t entry_count;
    size_t entry_capacity;
    char (*name_spaces)[NAMESPACE_MAX + 1]; /* 0 is "" */
    size_t name_space_count;
    size_t name_space_capacity;
    uint64_t *buckets; /* buckets of the namespace that is being read */
    size_t bucket_count;
    size_t bucket_capacity;
    uint64_t total_bytes;
    uint64_t unread_count; /* number of entries and buckets that could not be read */
    bool is_out_of_memory;
    struct upkeep_watch *watch; /* NULL: none. If it ends the work, the list is incomplete */
};

/*
 * Lists every entry of the store, or of one namespace if that is not NULL. Entries of other users are left out. Entries
 * that appear or vanish in the meantime may or may not be listed. Callers must call survey_fini in any case. watch may
 * be NULL.
 */
ingot_status_t survey_init(struct survey *survey, const struct directory *directory, const char *name_space,
                           struct upkeep_watch *watch);
/* Lists only the names of the namespaces that have a bucket or an index, or of one namespace if that is not NULL. */
ingot_status_t survey_init_name_spaces(struct survey *survey, const struct directory *directory,
                                       const char *name_space);
void survey_fini(struct survey *survey);

/* Reads one entry from its files, without the index. Returns 0, a negated errno, or 1 if the entry does not exist or
 * cannot be from this store. */
int survey_read(const struct directory *directory, const char *name_space, uint64_t bucket, uint32_t number,
                struct survey_entry *entry);

/* Sorts by the order of eviction: the oldest or the least recently used entry first, and entries with equal times by
 * bucket, number and name of the namespace. */
void survey_sort(struct survey *survey, const struct eviction_order *order);

/* Sorts by bucket, number and namespace. */
void survey_sort_by_place(struct survey *survey);

void survey_path(const struct survey *survey, const struct survey_entry *entry, char path[PATH_CAPACITY]);

#endif
