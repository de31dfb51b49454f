/*
 * survey.h - a list of all that is in a store.
 */
#ifndef INGOT_PERSIST_DIRECTORY_UPKEEP_SURVEY_H
#define INGOT_PERSIST_DIRECTORY_UPKEEP_SURVEY_H

#include "persist/directory/layout/state.h"
#include "persist/directory/upkeep/watch.h"

/* One entry, with what is needed to order it and to find it again. */
struct survey_entry {
    uint64_t created_ns;
    uint64_t last_use_ns;
    uint64_t bucket;
    uint64_t inode;
    uint64_t bytes;
    uint32_t number;
    uint32_t name_space; /* index into the survey's */
};

struct survey {
    ingot_allocator_t allocator;
    struct survey_entry *entries;
    size_t entry_count;
    size_t entry_capacity;
    char (*name_spaces)[NAMESPACE_MAX + 1]; /* 0 is "" */
    size_t name_space_count;
    size_t name_space_capacity;
    uint64_t *buckets; /* of the namespace that is being read */
    size_t bucket_count;
    size_t bucket_capacity;
    uint64_t total_bytes;
    uint64_t unread_count; /* of entries and buckets that could not be looked at */
    bool is_out_of_memory;
    struct upkeep_watch *watch; /* NULL: none; one that ends leaves the list incomplete */
};

/*
 * Lists every entry of the store, or of one namespace where that is not NULL. What others own is left out. Entries
 * that appear or vanish meanwhile may be in it or not. To be ended by survey_fini in any case. watch may be NULL.
 */
ingot_status_t survey_init(struct survey *survey, const struct directory *directory, const char *name_space,
                           struct upkeep_watch *watch);
/* The names of the namespaces only, those that have a bucket or an index; of one, where that is not NULL. */
ingot_status_t survey_init_name_spaces(struct survey *survey, const struct directory *directory,
                                       const char *name_space);
void survey_fini(struct survey *survey);

/* One entry as its files have it, without what the index says. 1: there is none that the store may have made; or a
 * negated errno. */
int survey_read(const struct directory *directory, const char *name_space, uint64_t bucket, uint32_t number,
                struct survey_entry *entry);

/* In the order in which they are to go: oldest created, or least recently used, first; equal times by bucket, number,
 * and the name of the namespace. */
void survey_sort(struct survey *survey, ingot_persist_eviction_t order);

/* By bucket, number and namespace. */
void survey_sort_by_place(struct survey *survey);

void survey_path(const struct survey *survey, const struct survey_entry *entry, char path[PATH_CAPACITY]);

#endif
