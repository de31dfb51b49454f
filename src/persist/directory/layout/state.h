/*
 * state.h - the state of an open directory store, shared by the files that work on it.
 *
 * An open store is immutable except for counters, hints, limits and files that are kept open, so it needs no lock.
 * Everything else that changes is on disk; doc/store-format.md says what guards it.
 */
#ifndef INGOT_PERSIST_DIRECTORY_LAYOUT_STATE_H
#define INGOT_PERSIST_DIRECTORY_LAYOUT_STATE_H

#include <ingot/persist.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "persist/base/process_lock.h"
#include "persist/directory/format/paths.h"
#include "persist/directory/layout/eviction_order.h"
#include "persist/storage/common/counters.h"

/* size.txt and index.bin, kept open for the next store: opening and closing them would take as long as using them. */
struct account_files {
    atomic_int use; /* an enum account_use; acquire when taken, release when put back */
    int size_fd;
    int index_fd;
    /* the process that opened them; a forked child would share their locks, so it must not use them */
    unsigned long process;
    uint64_t size_inode;
    uint64_t index_inode;
    uint64_t size_bytes; /* of size.txt */
    uint64_t finished;   /* the checksum of a header whose change is known to be done; 0: none */
};

/* The number of kept sets of files. If more threads store at once, each further thread opens files for itself. */
#define ACCOUNT_KEPT 4u

/* This process's place in tmp. A lock makes it known to other processes; see temporary.c. */
struct temporary_session {
    struct process_lock lock; /* guards the rest */
    int lock_fd;              /* -1: there is none */
    atomic_int tmp;           /* a handle of tmp, whose descriptor never changes; -1: not opened yet; release/acquire */
    uint64_t byte;            /* the byte that this process has locked */
    uint64_t next;
};

struct directory {
    ingot_allocator_t allocator;
    int root;   /* the descriptor never changes, but the directory behind it may; see root.c */
    char *path; /* absolute path of the root */
    size_t path_size;
    uint32_t owner; /* the user who owns the root and everything in it that is trusted */
    bool makes_parents;
    bool accepts_any_owner; /* read-only, and every blob must be sealed */
    bool is_read_only;
    bool is_durable;
    const struct eviction_order *order;
    _Atomic uint64_t max_bytes;   /* this and the next two fields may change, see limits.c */
    _Atomic uint64_t max_entries; /* UINT64_MAX: no limit, here and below */
    _Atomic uint64_t max_age_ns;
    uint64_t min_blob_bytes;
    uint64_t max_blob_bytes;
    uint32_t low_water_percent;
    uint64_t lock_timeout_ns;
    bool never_waits;       /* for the builds of other processes; the next field is the limit */
    uint64_t build_wait_ns; /* 0: as long as the longest build took */
    ingot_event_callback_t on_event;
    void *on_event_user;
    uint64_t (*bucket_of)(size_t id_size, const uint8_t *id);
    struct counters counters;
    struct account_files kept[ACCOUNT_KEPT];
    struct temporary_session session;
    _Atomic uint64_t eviction_cost_ns; /* of one entry, at the last eviction; 0: none yet */
    atomic_bool has_told_unstamped;    /* relaxed, like the next one: an extra event does no harm */
    atomic_bool has_told_unlockable;
    char name_space[NAMESPACE_MAX + 1]; /* "" if it has none */
};

/* Returns the directory store of a storage, or NULL if the storage is of another kind. */
struct directory *directory_of(ingot_storage_t storage);

/* Returns the age of an entry according to the eviction order, or 0 if its time is in the future. */
static inline uint64_t directory_age_ns(const struct directory *directory, uint64_t now_ns, uint64_t created_ns,
                                        uint64_t last_use_ns)
{
    const uint64_t then_ns = eviction_order_time(directory->order, created_ns, last_use_ns);
    return now_ns > then_ns ? now_ns - then_ns : 0;
}

/* Does the same for public functions: INGOT_INVALID_ARGUMENTS for NULL, INGOT_UNIMPLEMENTED for another kind. */
ingot_status_t directory_get(ingot_storage_t storage, struct directory **directory);
/* Returns the store's namespace, or NULL if it has none. */
const char *directory_name_space(const struct directory *directory);

/* Reports an event to the store's callback and, unless the event is a load or a store, to the context that the thread
 * works for. */
void directory_tell(const struct directory *directory, ingot_event_kind_t kind, ingot_status_t status, uint64_t bytes,
                    uint64_t started_ns, const char *name, const char *reason);

#endif
