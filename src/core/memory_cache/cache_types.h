/*
 * cache_types.h - defines the types that the in-memory cache shares with its users: requests, limits and callbacks.
 */
#ifndef INGOT_CORE_MEMORY_CACHE_CACHE_TYPES_H
#define INGOT_CORE_MEMORY_CACHE_CACHE_TYPES_H

#include <stdbool.h>

#include "core/base/digest.h"
#include "util/memory.h"

/* Tests are written in C++17, which has no _Atomic; std::atomic has the same layout. */
#ifdef __cplusplus
#include <atomic>
#define CACHE_ATOMIC(type) std::atomic<type>
#else
#include <stdatomic.h>
#define CACHE_ATOMIC(type) _Atomic(type)
#endif

struct memory_cache;
struct cache_entry;

enum eviction_reason {
    EVICTED_COUNT,
    EVICTED_BYTES,
    EVICTED_GROUPS,
    EVICTED_FAMILY,
    EVICTED_CLEAR,
    EVICTED_MEMORY,
    EVICTED_REPLACED, /* by memory_cache_put */
    EVICTED_TAKEN,    /* by memory_cache_take */
    EVICTION_REASONS
};

struct memory_cache_ops {
    /* True if the value was made for this key. Both belong to the cache's user. May be called under cache->lock, so
     * it must not call the cache. */
    bool (*matches)(const void *value, const void *key);
    /* Frees a value after the last reference to its entry was dropped. Called without any lock. The call may end in
     * memory_cache_destroy, so the entry is recycled before the call, and the cache is not used after it. */
    void (*destroy)(void *user, void *value);
    /* Reports an eviction. The entry is still held. Called without any lock. May be NULL. */
    void (*evicted)(void *user, void *value, size_t bytes, enum eviction_reason reason);
    /* Returns true if two current requests whose hashes are equal also have equal keys. Called under the same
     * conditions as matches. May be NULL. Then keys with equal hashes are assumed to be equal until there is a value to
     * compare with. */
    bool (*same_key)(const void *key, const void *other);
    /* True if values cannot be made again, so nothing is evicted when memory runs out. */
    bool cannot_remake;
    /* True if the groups with these names belong to one family; see max_family_groups. May be NULL. Called under the
     * same conditions as matches. */
    bool (*same_family)(const char *group, const char *other);
};

struct memory_cache_limits {
    size_t max_entries;          /* 0: nothing is kept */
    size_t max_bytes;            /* 0: no limit */
    size_t max_groups;           /* 0: no limit */
    size_t max_family_groups;    /* limit for each family of groups; 0: no limit */
    bool drops_least_used_group; /* true: drop the least recently used group first; false: the oldest */
};

struct memory_cache_counts {
    uint64_t hits;
    uint64_t misses; /* number of calls of a cache_maker (memory_cache.h) */
    uint64_t waits;
    uint64_t evictions[EVICTION_REASONS];
    size_t entries;
    size_t bytes;
    size_t groups;
};

/* Remembers the entry that was last found for a program descriptor's key. Must be zeroed before first use. Read and
 * written without a lock. */
struct cache_memo {
    CACHE_ATOMIC(struct cache_entry *) entry;
    CACHE_ATOMIC(uint64_t) serial;
};

/* A request for an entry. `memo` and `group` may be NULL. An entry in the cache belongs to each group that a request
 * for it has named. The cache copies group names. */
struct cache_request {
    struct hash128 hash;
    const void *key; /* for ops.matches */
    struct cache_memo *memo;
    const char *group;
    bool is_transient; /* true: the entry is neither looked up nor kept; only concurrent requests share it */
};

typedef bool (*cache_group_filter)(const char *group, const void *wanted);

void *cache_entry_value(const struct cache_entry *entry);
void cache_entry_retain(struct cache_entry *entry); /* the caller must hold a reference */
void cache_entry_release(struct cache_entry *entry);

#endif
