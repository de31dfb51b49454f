/*
 * cache_types.h - types that the in-memory cache's own files share with its users: requests, limits, callbacks,
 * entries.
 */
#ifndef INGOT_CORE_MEMORY_CACHE_CACHE_TYPES_H
#define INGOT_CORE_MEMORY_CACHE_CACHE_TYPES_H

#include <stdbool.h>

#include "core/base/alloc.h"
#include "core/base/digest.h"

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
    EVICTED_REPLACED, /* replaced by memory_cache_put */
    EVICTED_TAKEN,    /* taken by memory_cache_take */
    EVICTION_REASONS
};

struct memory_cache_ops {
    /* True if the value was made for this key; both belong to the cache's user. May be called under the cache's lock,
     * and must not call the cache. */
    bool (*matches)(const void *value, const void *key);
    /* Frees a value after its last reference was dropped. Called without any lock, after all other use of the entry. It
     * may lead to memory_cache_destroy, so the entry is recycled first and the cache is not used afterwards. */
    void (*destroy)(void *user, void *value);
    /* Reports an eviction; the caller still holds the entry. Called without any lock. May be NULL. */
    void (*evicted)(void *user, void *value, size_t bytes, const char *group, enum eviction_reason reason);
    /* True if two keys with equal hashes are equal; both belong to current requests. Called under the same conditions
     * as matches. NULL: equal hashes count as equal keys while there is no value to compare with. */
    bool (*same_key)(const void *key, const void *other);
    /* True if values cannot be made again, so running out of memory evicts nothing. */
    bool cannot_remake;
    /* True if two groups, given by name, belong to one family; for max_family_groups. May be NULL. Called under the
     * same conditions as matches. */
    bool (*same_family)(const char *group, const char *other);
};

struct memory_cache_limits {
    size_t max_entries;          /* 0: keep nothing */
    size_t max_bytes;            /* 0: no limit */
    size_t max_groups;           /* 0: no limit */
    size_t max_family_groups;    /* limit of one family; 0: no limit */
    bool drops_least_used_group; /* otherwise the oldest group is dropped first */
};

struct memory_cache_counts {
    uint64_t hits;
    uint64_t misses; /* makers run */
    uint64_t waits;
    uint64_t evictions[EVICTION_REASONS];
    size_t entries;
    size_t bytes;
    size_t groups;
};

/* A descriptor's memo of the entry that its key last led to. Must be zeroed before first use. Read and written without
 * a lock. */
struct cache_memo {
    CACHE_ATOMIC(struct cache_entry *) entry;
    CACHE_ATOMIC(uint64_t) serial;
};

/* A request for an entry. memo and group may be NULL. A kept entry is in the groups that requested it; the cache copies
 * their names. */
struct cache_request {
    struct hash128 hash;
    const void *key; /* for ops.matches */
    struct cache_memo *memo;
    const char *group;
    bool is_transient; /* the entry is neither found nor kept; only concurrent requests share the result */
};

typedef bool (*cache_group_filter)(const char *group, const void *wanted);

void *cache_entry_value(const struct cache_entry *entry);
void cache_entry_retain(struct cache_entry *entry); /* the caller must hold a reference */
void cache_entry_release(struct cache_entry *entry);

#endif
