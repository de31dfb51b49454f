/*
 * state.h - defines the state of a storage.
 */
#ifndef INGOT_PERSIST_STORAGE_STATE_H
#define INGOT_PERSIST_STORAGE_STATE_H

#include <ingot/persist.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "persist/storage/kinds.h"
#include "persist/trust/keyring.h"

/* Programs that wait for a flush or for the last release; see deferred.c. */
struct deferred {
    pthread_mutex_t lock;
    struct deferred_item *first; /* the oldest; `lock` guards this and the rest */
    size_t count;
    size_t active_count; /* items that threads have taken out and are storing */
};

#define STORAGE_MAX_TIERS 16u

struct ingot_storage {
    enum storage_kind kind;
    unsigned long process;             /* process_number() when it was made; in a forked child, the storage is off */
    _Atomic(unsigned long) refused_in; /* the forked child that was told so last; 0: none; relaxed */
    uint64_t number; /* no other storage of this process has it, not even one at the same address later; never 0 */
    ingot_storage_t tiers[STORAGE_MAX_TIERS]; /* of a chain, which keeps nothing itself; references */
    size_t tier_count;                        /* 0: not a chain */
    ingot_storage_ops_t ops;
    void *self;
    ingot_allocator_t allocator;
    bool is_read_only;               /* true: no blob is stored, even if ops.store is set */
    ingot_event_callback_t on_event; /* the storage's own callback; NULL: none */
    void *on_event_user;
    _Atomic uint32_t store_mode;    /* 0: not set; relaxed: no other data depends on it */
    uint32_t on_miss;               /* 0: not set */
    atomic_uint weak_references;    /* and one for all references together; the last one frees the memory */
    atomic_size_t references;       /* dropped with acq_rel: the last release sees all earlier work */
    atomic_bool is_off;             /* relaxed: a few requests may see the old value */
    atomic_bool is_written_through; /* as a tier, stores all that its chain stores; relaxed, too */
    atomic_bool has_keyring;        /* true if `keyring` is set, so the lock is needed; release pairs with acquire */
    bool is_of_builder;             /* see ingot_persist_set_builder; set before the storage is used */
    bool must_require_seals;        /* accepts only policies that require seals, because files may belong to any user */
    pthread_mutex_t settings_lock;
    struct keyring *keyring; /* NULL: INGOT_PERSIST_TRUST_NONE; settings_lock guards it */
    struct chain_use *uses;  /* of a chain, see blobs.c; uses_lock guards it */
    pthread_mutex_t uses_lock;
    pthread_cond_t uses_changed;            /* a promotion has ended */
    _Atomic uint64_t counts[COUNTER_COUNT]; /* relaxed: no other data depends on them */
    ingot_storage_t listener;               /* in a chain: the tier whose callback gets its events; NULL: none */
    /* in a chain: the tier to which it stores; its settings apply where the chain has none of its own; NULL: none */
    ingot_storage_t model;
    struct deferred deferred;
    struct recording *recording; /* see storage_set_recording; NULL: none */
};

/* True if processes that use the storage take its locks before they build. */
static inline bool storage_has_build_locks(const struct ingot_storage *storage)
{
    return storage->kind == STORAGE_DIRECTORY && !storage->is_read_only;
}

#endif
