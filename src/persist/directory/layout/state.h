/*
 * state.h - the state of an open directory store, shared by the files that work on it.
 *
 * Immutable once open, but for counters, hints, limits and files that are kept open; so it needs no lock. Everything
 * that changes is on the disk and guarded as doc/store-format.md says.
 */
#ifndef INGOT_PERSIST_DIRECTORY_LAYOUT_STATE_H
#define INGOT_PERSIST_DIRECTORY_LAYOUT_STATE_H

#include <ingot/persist.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "persist/base/process_lock.h"
#include "persist/directory/format/paths.h"
#include "persist/storage/common/counters.h"

/* size.txt and index.bin, kept open for the next store: opening and closing them takes as long as using them. */
struct account_files {
    atomic_int use; /* of enum account_use; acquire when taken, release when put back */
    int size_fd;
    int index_fd;
    unsigned long process; /* that opened them: a forked child would share their locks */
    uint64_t size_inode;
    uint64_t index_inode;
    uint64_t size_bytes; /* of size.txt */
    uint64_t finished;   /* the header whose change is known to be done, by its checksum; 0: none is */
};

/* More threads than this that store at once open the files for themselves. */
#define ACCOUNT_KEPT 4u

/* What this process has in tmp is known to others by a lock; see temporary.c. */
struct temporary_session {
    struct process_lock lock; /* guards the rest */
    int lock_fd;              /* -1: there is none */
    uint64_t byte;            /* that is locked */
    uint64_t next;
};

struct directory {
    ingot_allocator_t allocator;
    int root;   /* the descriptor stays; what it is of may change: see root.c */
    char *path; /* the root's, absolute */
    size_t path_size;
    uint32_t owner; /* of the root, and of all that is trusted in it */
    bool makes_parents;
    bool is_read_only;
    bool is_durable;
    ingot_persist_eviction_t eviction;
    _Atomic uint64_t max_bytes;   /* this and the next two may change, see limits.c */
    _Atomic uint64_t max_entries; /* UINT64_MAX: no limit, here and below */
    _Atomic uint64_t max_age_ns;
    uint64_t min_blob_bytes;
    uint64_t max_blob_bytes;
    uint32_t low_water_percent;
    uint64_t lock_timeout_ns;
    ingot_event_callback_t on_event;
    void *on_event_user;
    uint64_t (*bucket_of)(size_t id_size, const uint8_t *id);
    struct counters counters;
    struct account_files kept[ACCOUNT_KEPT];
    struct temporary_session session;
    _Atomic uint64_t eviction_cost_ns;  /* of one entry, the last time; 0: there was none */
    atomic_bool has_told_unstamped;     /* relaxed: an event too many does no harm */
    char name_space[NAMESPACE_MAX + 1]; /* "" where there is none */
};

/* Returns the directory store of a storage, or NULL if the storage is of another kind. */
struct directory *directory_of(ingot_storage_t storage);

/* Returns the age of an entry by the time that the order of eviction uses; 0 if that is in the future. */
static inline uint64_t directory_age_ns(const struct directory *directory, uint64_t now_ns, uint64_t created_ns,
                                        uint64_t last_use_ns)
{
    const uint64_t then_ns = directory->eviction == INGOT_PERSIST_EVICT_LRU ? last_use_ns : created_ns;
    return now_ns > then_ns ? now_ns - then_ns : 0;
}

/* The same for public functions: INGOT_INVALID_ARGUMENTS for NULL, INGOT_UNIMPLEMENTED for another kind. */
ingot_status_t directory_get(ingot_storage_t storage, struct directory **directory);
/* Returns its namespace, or NULL if it has none. */
const char *directory_name_space(const struct directory *directory);

/* Tells the store's callback and, unless it is a load or a store, the context that the thread works for. */
void directory_tell(const struct directory *directory, ingot_event_kind_t kind, ingot_status_t status, uint64_t bytes,
                    uint64_t started_ns, const char *name, const char *reason);

#endif
