/*
 * state.h - defines the state of an open directory store, which many files use, and what its files do for directory.c.
 *
 * Most fields do not change while the store is open. Those that do are counters, hints and limits, which are atomic, so
 * the store needs no lock. Everything else that changes is on disk; doc/store-format.md says what guards it.
 */
#ifndef INGOT_PERSIST_DIRECTORY_STATE_H
#define INGOT_PERSIST_DIRECTORY_STATE_H

#include <ingot/persist.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "persist/directory/format/paths.h"
#include "persist/storage/kinds.h"
#include "util/nanoseconds.h"

#define STATE_MAX_KEPT 16u /* the number of exchanged locks that a store keeps; see build_lock.c */

/* An order in which a store evicts entries. All that depends on the order is in the table of directory.c. */
struct eviction_order {
    bool evicts;        /* false: a full store refuses blobs, and only the age limit removes entries */
    bool follows_use;   /* true: a load sets the time of the entry, from which its age counts */
    const char *reason; /* the reason in eviction events */
};

/* Returns the order that a value of the public enumeration stands for, or NULL if the value is not valid. */
const struct eviction_order *eviction_order_of(ingot_persist_eviction_t value);

struct directory {
    ingot_allocator_t allocator;
    uint32_t owner; /* the user that must own the root and everything in it */
    bool makes_parents;
    bool accepts_any_owner; /* if true, the store is read-only, and every blob must be sealed */
    bool is_read_only;
    const struct eviction_order *order;
    _Atomic uint64_t max_bytes;   /* this field and the next two may change; see directory.c */
    _Atomic uint64_t max_entries; /* here and in the next field, UINT64_MAX: no limit */
    _Atomic uint64_t max_age_ns;
    uint64_t min_blob_bytes;
    uint64_t max_blob_bytes;
    uint32_t low_water_percent;
    uint64_t lock_timeout_ns;
    /* relaxed: how often in a row size.txt was not unlocked in time; each time halves the next wait */
    atomic_uint lock_timeouts;
    bool never_waits;       /* true: processes do not wait for each other to build a program */
    uint32_t build_jobs;    /* how many builds may run at the same time; 0: any number */
    uint64_t build_wait_ns; /* limit of the waits for another process's build and for a place; 0: not set */
    /* of which this is the `self`; counts, and gets the events; no reference. NULL until it has been created: nothing
     * counts before that. */
    ingot_storage_t storage;
    /* The next fields are hints, and relaxed. */
    _Atomic uint64_t oldest_ns;    /* no entry is older, as far as is known; 0: not known */
    _Atomic uint64_t owed;         /* what size.txt does not have yet of this store's entries; see account.c */
    _Atomic uint64_t owed_limit;   /* how much that may be */
    _Atomic uint64_t stored_count; /* entries that were added to size.txt under its lock */
    _Atomic uint64_t good_shards[PATHS_SHARD_COUNT / 64]; /* a bit for each shard that was found closed to others */
    atomic_uint wish_room;          /* wishes that may be left before they are counted again; see wishes.c */
    _Atomic uint64_t wish_count_ns; /* if there is no room, they are not counted before this time */
    atomic_bool has_told_unstamped; /* an extra event does no harm */
    atomic_bool has_told_unlockable;
    struct build_lock *kept_locks[STATE_MAX_KEPT]; /* that others find shared; build_lock.c's mutex guards these */
    unsigned next_kept;
    char name_space[NAMESPACE_MAX + 1]; /* "" if it has none */
    char path[PATH_MAX];                /* absolute path of the root */
};

/* The root of a store, which is open for one operation (root.h). All paths of the operation are relative to it. */
struct root {
    struct directory *directory;
    int fd;              /* -1: not open */
    uint64_t file_limit; /* files_size_limit(), for which a store asks the kernel once; 0: not asked for */
};

/* Returns the size of the largest file that the process may write. */
static inline uint64_t root_file_limit(const struct root *root)
{
    return root->file_limit != 0 ? root->file_limit : files_size_limit();
}

/* Returns the directory store of a storage, or NULL if the storage is of another kind. */
struct directory *directory_of(ingot_storage_t storage);

/* Returns the age of an entry. A time in the future counts as now. */
static inline uint64_t directory_age_ns(uint64_t now_ns, uint64_t then_ns)
{
    return now_ns > then_ns ? now_ns - then_ns : 0;
}

/* ---- root.c ---- */

/* Opens the root at info's path, or creates it, and checks it. Remembers its path and its owner. Returns
 * INGOT_UNTRUSTED, INGOT_READ_ONLY or another status on failure. In any case, call root_close. */
ingot_status_t root_init(struct directory *directory, const ingot_persist_info_t *info, struct root *root);

/* Opens whatever directory has the path now, and checks it. If it is missing, creates it if `makes` is set and the
 * store is not read-only. Otherwise returns INGOT_NOT_FOUND, or the statuses of root_init. The caller closes the root,
 * even on failure. */
ingot_status_t root_open(struct directory *directory, bool makes, struct root *root);
void root_close(struct root *root);
/* Checks a directory of the store. Returns INGOT_NOT_FOUND, INGOT_UNTRUSTED or INGOT_IO_ERROR on failure. */
ingot_status_t root_check_directory(const struct root *root, const char *path);
/* Creates it unless it exists, and checks it. closes: one that this user has opened to others is closed again. */
ingot_status_t root_make_directory(const struct root *root, const char *path, bool closes);

/* Opens the root of a storage's directory store for a public function. Returns INGOT_INVALID_ARGUMENTS if the storage
 * is NULL, INGOT_UNIMPLEMENTED if it is of another kind, INGOT_READ_ONLY if it must be writable and is not, or the
 * statuses of root_open. The caller closes the root, even on failure. */
ingot_status_t root_open_of(ingot_storage_t storage, bool must_be_writable, struct root *root);

/* ---- publish.c ---- */

/* Stores a blob. If `replaces` is false, an entry that already has the id stays, and that counts as success. */
ingot_status_t publish_entry(const struct root *root, bool replaces, size_t id_size, const uint8_t *id,
                             size_t blob_size, const uint8_t *blob);

/* ---- build_lock.c ---- */

/* Releases the locks by which the store tells other processes that waiting for a program is useless. */
void build_lock_fini(struct directory *directory);

/* ---- wishes.c ---- */

/* leave_wish of ingot_storage_ops_t, after wishes_look. */
ingot_status_t wishes_leave(void *self, size_t id_size, const uint8_t *id);

#endif
