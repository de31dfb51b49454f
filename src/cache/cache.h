/*
 * cache.h - the state of a cache, for the functions of this library.
 *
 * ingot_cache_open writes everything here once, except what has its own lock.
 */
#ifndef INGOT_CACHE_CACHE_H
#define INGOT_CACHE_CACHE_H

#include <ingot/cache.h>
#include <stdbool.h>

struct ingot_cache {
    ingot_storage_t storage; /* the directory store, or a chain of it and the remote tier; NULL: none */
    ingot_storage_t remote;  /* the remote tier; NULL: none */
    ingot_event_callback_t on_event;
    void *on_event_user;
    bool ignores_environment;
};

/* Returns the storage; NULL if the cache is NULL or compiles everything. */
static inline ingot_storage_t cache_storage(const struct ingot_cache *cache)
{
    return cache != NULL ? cache->storage : NULL;
}

#endif
