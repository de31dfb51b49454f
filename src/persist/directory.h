/*
 * directory.h - the state of an open directory store, shared by the files that work on it.
 *
 * Immutable once open, but for the counters; so it needs no lock of its own. Everything that changes is on the disk
 * and guarded as doc/store-format.md says.
 */
#ifndef INGOT_PERSIST_DIRECTORY_H
#define INGOT_PERSIST_DIRECTORY_H

#include <ingot/persist.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "persist/paths.h"

struct directory_counters {
    _Atomic uint64_t hits;
    _Atomic uint64_t misses;
    _Atomic uint64_t stores;
    _Atomic uint64_t refused;
    _Atomic uint64_t evictions;
    _Atomic uint64_t failures;
};

struct directory {
    ingot_allocator_t allocator;
    int root;
    bool is_read_only;
    bool is_durable;
    ingot_persist_eviction_t eviction;
    uint64_t max_bytes;
    uint64_t lock_timeout_ns;
    ingot_event_callback_t on_event;
    void *on_event_user;
    uint64_t (*bucket_of)(size_t id_size, const uint8_t *id);
    struct directory_counters counters; /* relaxed: they order nothing */
    char name_space[NAMESPACE_MAX + 1]; /* "" where there is none */
};

/* As ingot_persist_open, with the choice of bucket in the caller's hands, so that a test can make ids share one. */
ingot_status_t directory_open(ingot_storage_t *storage, const ingot_persist_info_t *info,
                              uint64_t (*bucket_of)(size_t id_size, const uint8_t *id));

/* The directory store behind a storage, or NULL where it is of another kind. */
struct directory *directory_of(ingot_storage_t storage);

static inline void directory_count(_Atomic uint64_t *counter, uint64_t more)
{
    atomic_fetch_add_explicit(counter, more, memory_order_relaxed);
}

#endif
