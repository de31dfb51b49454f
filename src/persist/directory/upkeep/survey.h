/*
 * survey.h - lists the namespaces and all entries of a store, and reports the progress of long work on it.
 */
#ifndef INGOT_PERSIST_DIRECTORY_UPKEEP_SURVEY_H
#define INGOT_PERSIST_DIRECTORY_UPKEEP_SURVEY_H

#include <ingot/persist.h>

#include "persist/directory/layout/account.h"
#include "util/bytes_writer.h"

/* ---- the progress of long work, for the caller's callback, which can end the work ---- */

struct upkeep_watch {
    ingot_persist_upkeep_callback_t on_progress; /* may be NULL */
    void *user;
    ingot_persist_upkeep_progress_t progress;
    ingot_status_t ended; /* the status with which the callback ended the work; INGOT_SUCCESS if it did not */
};

static inline struct upkeep_watch upkeep_watch_of(ingot_persist_upkeep_callback_t on_progress, void *user)
{
    return (struct upkeep_watch){
        on_progress, user, {.struct_size = sizeof(ingot_persist_upkeep_progress_t)}, INGOT_SUCCESS};
}

/* Calls the callback with the progress so far. Returns false if the work should end. The caller must not hold a
 * lock. */
static inline bool upkeep_watch_tell(struct upkeep_watch *watch)
{
    if (watch->ended == INGOT_SUCCESS && watch->on_progress != NULL)
        watch->ended = watch->on_progress(&watch->progress, watch->user);
    return watch->ended == INGOT_SUCCESS;
}

static inline bool upkeep_watch_found(struct upkeep_watch *watch, uint64_t entry_count, uint64_t bytes)
{
    watch->progress.entry_count += entry_count;
    watch->progress.bytes += bytes;
    return upkeep_watch_tell(watch);
}

static inline bool upkeep_watch_removed(struct upkeep_watch *watch, uint64_t bytes)
{
    ++watch->progress.removed_count;
    watch->progress.removed_bytes += bytes;
    return upkeep_watch_tell(watch);
}

/* ---- entries ---- */

/* An entry, with what is needed to sort it and to find it. */
struct survey_entry {
    uint64_t time_ns; /* when its kernel.bin was last modified; 0 if it has none */
    uint64_t bucket;
    uint64_t inode;
    uint64_t bytes;
    uint32_t number;
    uint32_t name_space; /* index into the survey's name_spaces */
};

struct survey_name_space {
    char name[NAMESPACE_MAX + 1]; /* "" is the root */
    bool is_recorded;             /* true: it had a size.txt before it was read */
    struct account_total before;  /* what size.txt had then */
    uint64_t entry_count;
    uint64_t total_bytes;
    uint64_t unread_count; /* number of entries, buckets and namespaces that could not be read */
};

struct survey {
    struct bytes_writer entries; /* array of struct survey_entry */
    size_t entry_count;
    struct bytes_writer name_spaces; /* array of struct survey_name_space */
    size_t name_space_count;
    struct bytes_writer buckets; /* array of uint64_t: the buckets of the namespace that was read last */
    size_t bucket_count;
    size_t read_count; /* number of these buckets that were read */
    uint64_t total_bytes;
    uint64_t unread_count;      /* number of entries, buckets and namespaces that could not be read */
    struct upkeep_watch *watch; /* may be NULL; if it ends the work, the list is incomplete */
};

static inline struct survey_entry *survey_entry_at(const struct survey *survey, size_t number)
{
    return (struct survey_entry *)(void *)survey->entries.bytes + number;
}

static inline struct survey_name_space *survey_name_space_at(const struct survey *survey, size_t number)
{
    return (struct survey_name_space *)(void *)survey->name_spaces.bytes + number;
}

/* Returns the name of an entry's namespace. */
static inline const char *survey_name_of(const struct survey *survey, const struct survey_entry *entry)
{
    return survey_name_space_at(survey, entry->name_space)->name;
}

/*
 * Lists the entries of all namespaces if name_space is NULL, or of one ("": of those outside of all namespaces). Leaves
 * out entries that other users own or may write. If name_space is NULL, also leaves out namespaces that this user may
 * not read. In a writable store, deletes leftovers in buckets. An entry that appears or vanishes in the meantime may be
 * listed or not. The buckets are read in the order of the directory, starting at a random one: if the watch ends the
 * work, the list is a random sample. Call survey_fini even on failure.
 */
ingot_status_t survey_init(struct survey *survey, const struct root *root, const char *name_space,
                           struct upkeep_watch *watch);
void survey_fini(struct survey *survey);

/* Sorts the entries by time, the oldest first. Entries with equal times are sorted by bucket, number and namespace. */
void survey_sort_by_time(struct survey *survey);

/* Sorts the entries by bucket, number and namespace. */
void survey_sort_by_place(struct survey *survey);

void survey_path(const struct survey *survey, const struct survey_entry *entry, char path[PATH_CAPACITY]);

#endif
