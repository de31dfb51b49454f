/*
 * entries.h - the account, the search, the lists and the eviction of a store's entries, grouped by file.
 */
#ifndef INGOT_PERSIST_DIRECTORY_ENTRIES_H
#define INGOT_PERSIST_DIRECTORY_ENTRIES_H

#include "persist/directory/format/entry.h"
#include "persist/directory/state.h"
#include "util/bytes_writer.h"

#include <ingot/persist.h>
#include <ingot/private/directory.h>

/* ---- account.c: keeps the account of a namespace in size.txt: the bytes and the number of its entries.
 *
 * To put an entry in its place or to remove one, a thread calls account_begin first and account_end last, so that a
 * small store can be counted while nothing changes. A store that stores much puts most entries in their places without
 * the lock, and owes them to the account; so does one that did not get the lock in time. */

struct account_total {
    uint64_t bytes;
    uint64_t entry_count;
    bool is_known; /* false: size.txt is missing, damaged, or of another version */
};

/* A namespace's totals of bytes and entries, whose file size.txt is locked. */
struct account {
    const struct root *root;
    int fd; /* size.txt */
    struct account_total total;
};

/* Returns the sum, or UINT64_MAX if that is larger. */
static inline uint64_t account_sum(uint64_t a, uint64_t b)
{
    return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

/* Returns the time until which to wait for locks, on the clock of files_steady_clock_ns. */
uint64_t account_deadline(const struct directory *directory);

/* Locks the account, reads it, and adds what this store owes. Returns INGOT_BUSY if the lock was not free by the
 * deadline. A deadline in the past means not to wait at all. */
ingot_status_t account_begin(const struct root *root, const char *name_space, uint64_t deadline_ns,
                             struct account *account);
void account_end(struct account *account);

/* Writes the total to size.txt, unless it is there already. The account must be locked. */
ingot_status_t account_set(struct account *account, uint64_t bytes, uint64_t entry_count);
/* Makes the total unknown, so that the next store counts the entries. */
ingot_status_t account_forget(struct account *account);
/* Adds an entry that is about to be put in its place. If the process is killed before that, the total is too high until
 * an eviction corrects it. A total that is not known stays as it is. If the store stores much, allows it to owe further
 * entries. */
ingot_status_t account_add(struct account *account, uint64_t bytes);

/* True if this store may put an entry in its place without the lock, and owe it to the account. is_urgent: the lock was
 * not free in time; the caller then looks for room. */
bool account_may_owe(const struct directory *directory, uint64_t bytes, bool is_urgent);
/* Notes an entry that was put in its place without the lock, for the next account_begin. If the process is killed
 * before that, the total is too low until an eviction corrects it. */
void account_owe(struct directory *directory, uint64_t bytes, uint64_t entry_count);
/* Adds what is owed, or makes the totals unknown if the lock is not free in time. Called before the store is closed. */
void account_settle(struct directory *directory);

/* Subtracts entries that were removed. If that fails, the total is too high until an eviction corrects it. */
void account_subtract(struct account *account, uint64_t bytes, uint64_t entry_count);

/* Reads size.txt without a lock. Returns false if it has no totals. */
bool account_peek(const struct root *root, const char *name_space, struct account_total *total);
/* Does the same for the store's own namespace, and adds what this store owes. */
bool account_peek_own(const struct root *root, struct account_total *total);
/* Corrects size.txt after a count without the lock. `before` is the result of account_peek before the count. Keeps
 * totals that other threads and processes changed during the count, because it may have missed what they stored. */
ingot_status_t account_correct(const struct root *root, const char *name_space, const struct account_total *before,
                               uint64_t bytes, uint64_t entry_count);

/* Parses a line of size.txt: digits, followed only by spaces and line feeds. */
bool account_parse(size_t size, const char *text, uint64_t *number);

/* ---- lookup.c: finds the entry of an id, removes entries, and names directories in a shard while they are not
 * entries: while an entry is prepared or deleted. Paths are relative to the store's root. */

/* A search for an id, and its result. */
struct lookup {
    const struct root *root;
    size_t id_size;
    const uint8_t *id;
    ingot_buffer_t *blob;
    char path[PATH_CAPACITY]; /* the place of the id's entry, below the root */
    struct checksum hash;     /* the hash of the id, which is the place in the namespace */
    uint64_t inode;           /* of the entry that was found */
    uint64_t time_ns;         /* the time of this entry; set only with a blob */
};

/* Searches for an id, and copies its blob out unless `blob` is NULL. Removes a bad entry that it finds. Returns
 * INGOT_NOT_FOUND, also if the entry there belongs to another id, or the reason why the entry was refused. */
ingot_status_t lookup_find(const struct root *root, size_t id_size, const uint8_t *id, struct lookup *found,
                           ingot_buffer_t *blob);

/*
 * Makes a network file system ask its server about an entry, and the directories above it. Such a file system answers
 * from a cache. A name that was missing when it was last looked up stays missing for up to a minute, and the name of a
 * file that was replaced leads to the old file, which the server has deleted (ESTALE). Called where a wrong answer
 * would cost a compilation. On a local file system, asking costs a few microseconds. Returns -ENOENT if the entry is
 * missing, which needs no second look then.
 */
int lookup_refresh(const struct root *root, const char *entry_path);

/* Checks the directory of an entry's shard. Returns INGOT_NOT_FOUND, INGOT_UNTRUSTED or INGOT_IO_ERROR on failure. */
ingot_status_t lookup_examine_shard(const struct root *root, const char *name_space, uint8_t shard);

/* Removes an entry. Returns INGOT_NOT_FOUND if there is no such entry, or if it has another inode. Returns
 * INGOT_IO_ERROR or another status if the entry could not be removed. */
ingot_status_t lookup_take_away(const struct root *root, const char *name_space, const struct checksum *hash,
                                uint64_t inode, uint64_t deadline_ns);

/* ---- directories that are not entries ---- */

/* Creates a directory in a shard, and sets `path` to its path. Returns 0 or a negated errno. */
int temporary_make(const struct root *root, const char *shard_path, char path[PATH_CAPACITY]);

/* Moves an entry aside in its shard, and sets `aside` to its new path. If the system does not move it (EXDEV: it is
 * part of a container's image), deletes it instead, and sets `aside` to "". Returns 0 or a negated errno. */
int temporary_take(const struct root *root, const char *path, char aside[PATH_CAPACITY]);

/* Deletes an entry that was prepared or moved aside; does nothing for "". What cannot be deleted remains as a leftover.
 */
void temporary_delete(const struct root *root, const char *path);

/* True if a killed process has left the directory with this name in a shard, which was last written to at written_ns.
 * Sets *bytes to its size. is_removing: deletes it. */
bool temporary_reclaim(const struct root *root, const char *shard_path, const char *name, uint64_t written_ns,
                       bool is_removing, uint64_t *bytes);

/* ---- scan.c: lists the namespaces and entries of a store, and reports the progress of long work on it. ---- */

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
    unsigned part;              /* how many shards of the namespace that was listed last were listed, or are missing */
    struct upkeep_watch *watch; /* if it ends the work, the list is incomplete */
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

/* Prepares a scan of the store's namespace. includes_all: if the store has none, of all namespaces, and not only of the
 * entries outside of them. Call scan_fini even on failure. */
ingot_status_t scan_init(struct scan *scan, const struct root *root, bool includes_all, struct upkeep_watch *watch);
void scan_fini(struct scan *scan);

/*
 * Adds all entries to the list. Leaves out entries that other users own. If all namespaces are listed, also leaves out
 * those that this user may not read. Deletes leftovers, except in an inspection and in a read-only
 * store. An entry that appears or
 * vanishes in the meantime may be listed or not.
 */
ingot_status_t scan_all(struct scan *scan);
/* Adds the entries of one shard of a namespace. Returns 0 or a negated errno. */
int scan_shard(struct scan *scan, uint32_t name_space, uint8_t shard);
/* Empties the list of entries. */
void scan_forget_entries(struct scan *scan);

/* Sorts the entries by an order: by hash and namespace, or by time, the oldest first, and entries with equal times by
 * hash and namespace. */
void scan_sort(struct scan *scan, int (*compare)(const void *left, const void *right));
int scan_compare_places(const void *left_entry, const void *right_entry);
int scan_compare_times(const void *left_entry, const void *right_entry);

/* ---- evict.c: counts a store's entries, corrects size.txt, and evicts the oldest entries: on request, and in the
 * thread that stores. */

/* With at most this many entries, the oldest of all are evicted. */
#define EVICT_EXACT 4096u

/* Limits to which a store is reduced; UINT64_MAX means no limit. */
struct evict_limits {
    uint64_t bytes;
    uint64_t entry_count;
    uint64_t age_ns;
};

/* Converts an age limit of the public interface to nanoseconds. */
uint64_t evict_age_ns(uint64_t max_age_ms, uint64_t default_ns);

/* Counts the entries of the store's namespace, or of all together if it has none, and corrects size.txt, unless the
 * store is read-only. Then evicts entries until the limits are met, unless these are NULL; the watch's progress says
 * how many. Returns INGOT_SUCCESS even if the watch ends the work early. */
ingot_status_t evict_on_request(const struct root *root, const struct evict_limits *limits, struct upkeep_watch *watch,
                                ingot_persist_count_t *count);

/* Counts the entries of the store's namespace, corrects size.txt, and evicts what is too old and, if an entry of
 * wanted_bytes does not fit, the oldest entries down to the low-water mark, and further ones until it fits. If the
 * store has too many entries to count at once, only estimates the totals, unless size.txt has them, and sets *is_done
 * to false. */
ingot_status_t evict_exactly(const struct root *root, uint64_t wanted_bytes, bool *is_done);
/* Evicts the oldest entries of random shards, for some milliseconds, until the store is at its low-water mark, and
 * lower if an entry of wanted_bytes needs it. */
ingot_status_t evict_from_shards(const struct root *root, uint64_t wanted_bytes);
/* Called when the store was opened, and when a blob was stored. Evicts entries that are over the age limit. */
void evict_expired(const struct root *root);

#endif
