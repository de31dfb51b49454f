/*
 * cache.h - the state of a cache, for the functions of this library.
 *
 * ingot_cache_open writes the fields, and afterwards they are only read, except `targets` and `begun`.
 */
#ifndef INGOT_CACHE_CACHE_H
#define INGOT_CACHE_CACHE_H

#include <ingot/cache.h>
#include <ingot/persist.h>
#include <stdbool.h>

#include "core/base/metrics.h"
#include "core/base/trace.h"
#include "persist/storage/storage.h"

struct builders;

struct ingot_cache {
    ingot_storage_t storage;         /* the directory store, or a chain of it and a remote tier; NULL: none */
    struct trace trace;              /* the application's callback, and INGOT_TRACE */
    struct metrics_source metrics;   /* listed if the cache counts (INGOT_METRICS_DIR) */
    bool adds_options;               /* true if the environment adds options to all programs */
    struct ingot_header_memo *memo;  /* of all requests; NULL: off */
    ingot_persist_on_miss_t on_miss; /* what to do about a program that the cache does not have */
    struct kept_target *targets;     /* see request.c; this and the next one under the lock of lock.h */
    struct ingot_pending *begun;     /* programs, see pending.c */
    struct builders *builders;       /* NULL: none are started */
};

/* Opens a cache over a storage, to which it takes a reference; NULL: none. Events go to the callback, and to
 * INGOT_TRACE. */
ingot_status_t cache_open_over(struct ingot_cache **cache, ingot_storage_t storage, ingot_event_callback_t on_event);

/* Reports an event to the application's callback and to INGOT_TRACE. `name` may be NULL. */
void cache_tell(const struct ingot_cache *cache, ingot_event_kind_t kind, ingot_status_t status, const char *name,
                const char *reason);

/* Sets the error detail that says why cache_storage returns NULL, and returns the status. The first refusal in a forked
 * child is also reported. */
ingot_status_t cache_refuse(const struct ingot_cache *cache, ingot_status_t status);

/* Returns INGOT_READ_ONLY as cache_refuse does if the cache has a storage that is off in this forked child; otherwise
 * INGOT_SUCCESS. */
ingot_status_t cache_check(const struct ingot_cache *cache);

/* Returns the storage; NULL if the cache is NULL or compiles everything, as it does in a forked child. */
static inline ingot_storage_t cache_storage(const struct ingot_cache *cache)
{
    return cache != NULL && cache->storage != NULL && storage_is_here(cache->storage) ? cache->storage : NULL;
}

/* request.c: releases what the cache knows of devices. */
void targets_fini(struct ingot_cache *cache);
/* pending.c: makes all begun programs forget the cache. */
void pending_leave_cache(struct ingot_cache *cache);

#endif
