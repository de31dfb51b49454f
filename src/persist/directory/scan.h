/*
 * scan.h - lists the namespaces and entries of a store, and reports the progress of long work on it.
 */
#ifndef INGOT_PERSIST_DIRECTORY_SCAN_H
#define INGOT_PERSIST_DIRECTORY_SCAN_H

#include <ingot/persist.h>

#include "persist/directory/account.h"
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

/* ---- entries ---- */

/* An entry, with what is needed to sort it and to find it. */
struct scan_entry {
    uint64_t time_ns; /* when its kernel.bin was last modified; 0 if it has none */
    uint64_t bytes;   /* allocated for its files */
    uint64_t inode;   /* of its directory; 0 if the scan is no inspection */
    struct checksum hash;
    uint32_t name_space; /* index into the scan's name_spaces */
};

struct scan_name_space {
    char name[NAMESPACE_MAX + 1]; /* "" is the root */
    bool is_recorded;             /* true: it had a size.txt before it was read */
    struct account_total before;  /* what size.txt had then */
    uint64_t entry_count;
    uint64_t total_bytes;
    uint64_t unread_count; /* number of entries, shards and namespaces that could not be read */
};

struct scan {
    const struct root *root;
    bool is_inspection;          /* true: reads the inodes of the entries' directories, and deletes no leftovers */
    struct bytes_writer entries; /* array of struct scan_entry */
    size_t entry_count;
    struct bytes_writer name_spaces; /* array of struct scan_name_space */
    size_t name_space_count;
    uint64_t total_bytes;
    uint64_t unread_count;   /* number of entries, shards and namespaces that could not be read */
    uint64_t leftover_count; /* what killed processes left */
    uint64_t leftover_bytes;
    uint64_t shards[PATHS_SHARD_COUNT / 64]; /* a bit for each shard of the namespace that was listed last */
    struct upkeep_watch *watch;              /* if it ends the work, the list is incomplete */
};

static inline struct scan_entry *scan_entry_at(const struct scan *scan, size_t number)
{
    return (struct scan_entry *)(void *)scan->entries.bytes + number;
}

static inline struct scan_name_space *scan_name_space_at(const struct scan *scan, size_t number)
{
    return (struct scan_name_space *)(void *)scan->name_spaces.bytes + number;
}

/* Returns the name of an entry's namespace. */
static inline const char *scan_name_of(const struct scan *scan, const struct scan_entry *entry)
{
    return scan_name_space_at(scan, entry->name_space)->name;
}

/* Prepares a scan of one namespace, or of all if name_space is NULL ("": of the entries outside of all namespaces).
 * Call scan_fini even on failure. */
ingot_status_t scan_init(struct scan *scan, const struct root *root, const char *name_space,
                         struct upkeep_watch *watch);
void scan_fini(struct scan *scan);

/*
 * Adds all entries to the list. Leaves out entries that other users own. If all namespaces are listed, also leaves out
 * those that this user may not read. Deletes leftovers, except in an inspection and in a read-only
 * store. An entry that appears or
 * vanishes in the meantime may be listed or not.
 */
ingot_status_t scan_all(struct scan *scan);
/* Lists which shards a namespace has. Returns 0 or a negated errno. */
int scan_find_shards(struct scan *scan, uint32_t name_space);
static inline bool scan_has_shard(const struct scan *scan, unsigned shard)
{
    return (scan->shards[shard / 64] >> (shard % 64) & 1) != 0;
}
/* Adds the entries of one shard of a namespace. Returns 0 or a negated errno. */
int scan_shard(struct scan *scan, uint32_t name_space, uint8_t shard);
/* Empties the list of entries. */
void scan_forget_entries(struct scan *scan);

/* Sorts the entries by an order: by hash and namespace, or by time, the oldest first, and entries with equal times by
 * hash and namespace. */
void scan_sort(struct scan *scan, int (*compare)(const void *left, const void *right));
int scan_compare_places(const void *left_entry, const void *right_entry);
int scan_compare_times(const void *left_entry, const void *right_entry);

#endif
