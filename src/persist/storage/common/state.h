/*
 * state.h - a storage's state, for the files of this room.
 */
#ifndef INGOT_PERSIST_STORAGE_COMMON_STATE_H
#define INGOT_PERSIST_STORAGE_COMMON_STATE_H

#include <ingot/persist.h>
#include <pthread.h>
#include <stdbool.h>

#include "persist/base/process_lock.h"
#include "persist/storage/common/build_locks.h"
#include "persist/storage/common/counters.h"
#include "persist/storage/common/kinds.h"
#include "persist/storage/common/store_list.h"
#include "persist/trust/keyring.h"

#define STORAGE_BACKENDS_CAPACITY 128u

struct store_queue {
    struct process_lock lock;
    pthread_cond_t has_work;                          /* signaled for the thread */
    pthread_cond_t is_done;                           /* signaled for callers that flush */
    struct store_queue_list lists[STORE_QUEUE_LISTS]; /* one per store_queue_when; under lock, like all fields below */
    struct store_queue_list active;                   /* items that a thread is storing */
    size_t active_count;                              /* number of items that are being stored or freed */
    size_t making_count;                              /* programs that are being loaded or built */
    uint64_t last_made_ns;                            /* when the last program was loaded or built */
    uint64_t urgent_until_ns;                         /* the thread works on all lists until this time */
    uint64_t taken_ns; /* total time to take all blobs so far; the next field: total time to build their programs */
    uint64_t built_ns;
    ingot_persist_flush_progress_t total; /* since the storage was created */
    ingot_status_t failure;               /* the first failure that no flush has returned yet */
    bool has_thread;
    bool is_ending;
    /* true if the last reference was released in the thread itself, which then finishes the storage */
    bool is_orphan;
    pthread_t thread;                                     /* valid if has_thread is set */
    struct store_queue_list inherited[STORE_QUEUE_LISTS]; /* in a forked child: the parent's lists, never used */
    ingot_storage_t next;                                 /* the list of last_work.c */
};

/* Stores a blob in those of the first tiers of a chain that are writable; events report failures. Returns true if a
 * tier stored it. */
typedef bool (*storage_promote_t)(ingot_storage_t chain, size_t tier_count, size_t id_size, const uint8_t *id,
                                  const ingot_buffer_t *blob);
/* Removes a promoted blob. */
typedef void (*storage_withdraw_t)(ingot_storage_t chain, size_t tier_count, size_t id_size, const uint8_t *id);

/* The state of savings.c, under its lock; save is constant. */
struct storage_savings {
    storage_save_counts_t save; /* NULL: not a directory store, or one that is read-only */
    struct savings_counts waiting;
    unsigned long process; /* the process in which the counts wait; 0: none yet */
    ingot_storage_t next;
};

struct storage_around {
    ingot_storage_t storage;
    const struct storage_around *next; /* NULL: none */
};

struct ingot_storage {
    enum storage_kind kind;
    ingot_storage_ops_t ops;
    void *self;
    storage_load_t load_for_core;        /* NULL: the operation of ops */
    storage_forward_load_t forward_load; /* if the storage forwards; otherwise NULL, like the next two */
    storage_forward_load_many_t forward_load_many;
    storage_store_t forward_store;
    ingot_storage_load_many_t load_many; /* NULL: it loads one blob after another; constant */
    ingot_allocator_t allocator;
    bool is_read_only;               /* true even if it has a store operation */
    ingot_event_callback_t on_event; /* the storage's own callback; NULL: none */
    void *on_event_user;
    _Atomic(ingot_persist_store_mode_t) store_mode; /* relaxed, like the next two: they order nothing */
    _Atomic uint32_t exit_time_ms;                  /* as in ingot_persist_storing_t */
    _Atomic uint32_t quiet_time_ms;
    atomic_size_t references;                           /* release pairs with acquire of the last one */
    _Atomic(ingot_persist_store_mode_t) inherited_mode; /* a switch's mode, unless one was set on the switch itself */
    _Atomic uint32_t inherited_exit_ms;
    _Atomic uint32_t inherited_quiet_ms;
    _Atomic unsigned off;           /* of STORAGE_OFF_...; relaxed: a few requests may see the old value */
    atomic_bool is_written_through; /* gets every store of its chains; relaxed, likewise */
    atomic_bool has_backends;       /* release pairs with acquire: true if taking the lock is worthwhile */
    atomic_bool has_keyring;        /* likewise */
    bool must_require_seals;        /* its files may be any user's */
    struct process_lock settings_lock;
    char backends[STORAGE_BACKENDS_CAPACITY]; /* under settings_lock, like the next one */
    struct keyring *keyring;                  /* NULL: INGOT_PERSIST_TRUST_NONE */
    _Atomic uint64_t distrusted;              /* blobs whose seal was refused; relaxed, a count */
    struct counters counters;                 /* of loads and stores; a directory store also has its own */
    ingot_storage_t listener;  /* the tier of a chain whose callback gets events of promotions; NULL: none */
    storage_promote_t promote; /* in a chain, like the next field; otherwise NULL */
    storage_withdraw_t withdraw;
    void (*finish)(ingot_storage_t);            /* what the last release does */
    ingot_storage_t (*take_target)(void *self); /* for a switch: returns a reference, or NULL; otherwise NULL */
    ingot_storage_t (*get_tier)(void *self, size_t index); /* for a chain: NULL at the end; otherwise NULL */
    const struct build_locks *build_locks;                 /* for a writable directory store; otherwise NULL */
    ingot_lease_ops_t leases;                              /* take is NULL if the storage gives no leases; constant */
    ingot_storage_t model;     /* a chain's tier whose settings apply where the chain has none; NULL: none */
    _Atomic uint64_t rejected; /* blobs that the core or the driver refused; relaxed, a count */
    _Atomic uint64_t saved_ns; /* programs that were loaded through it; likewise */
    _Atomic uint64_t awaited;  /* programs that another process built in the meantime; likewise */
    _Atomic uint64_t wait_timeouts;
    struct storage_savings savings;
    struct store_queue queue;
    _Atomic(void *) parts[STORAGE_PART_COUNT]; /* NULL: not added yet; release pairs with acquire */
    _Atomic(storage_destroy_part_t) destroy_parts[STORAGE_PART_COUNT]; /* relaxed: set before the part is added */
};

#endif
