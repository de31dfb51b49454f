/*
 * memory_cache.h - keyed, shared, evictable entries: the engine under programs and under an integrator's own objects.
 *
 * An entry is a counted handle on a value. Entries live in pools of the cache that are type-stable: their memory is
 * reused for other entries, and returned only when the cache is destroyed, so that a stale pointer to an entry may be
 * looked at and found stale. A hit writes only the calling thread's own counters. doc/threading.md has the proof.
 */
#ifndef INGOT_CORE_MEMORY_CACHE_MEMORY_CACHE_H
#define INGOT_CORE_MEMORY_CACHE_MEMORY_CACHE_H

#include <stdbool.h>

#include "core/base/alloc.h"
#include "core/base/digest.h"

/* The tests are C++17, which has no _Atomic; std::atomic has the same layout. */
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
    /* Whether a value was made for this key; both as the user of the cache gave them. No lock of the caller's matters:
     * it may be called under a lock of the cache and must not call the cache. */
    bool (*matches)(const void *value, const void *key);
    /* The last reference is gone. Called without any lock, as the last thing done with the entry: it may bring about
     * memory_cache_destroy, so the entry has been recycled and the cache is not touched after it. */
    void (*destroy)(void *user, void *value);
    /* An entry was evicted, and is still held by the caller of this. Called without any lock. May be NULL. */
    void (*evicted)(void *user, void *value, size_t bytes, const char *group, enum eviction_reason reason);
    /* Whether two keys of equal hash are equal; both belong to requests under way. Called as matches is. NULL: equal
     * hashes are taken for equal keys as long as no value is there to be compared. */
    bool (*same_key)(const void *key, const void *other);
    /* What is kept cannot be made again, so memory being short is no reason to evict anything. */
    bool cannot_remake;
    /* True if two groups are of one family, by their names; for max_family_groups. May be NULL. Called as matches. */
    bool (*same_family)(const char *group, const char *other);
};

struct memory_cache_limits {
    size_t max_entries;          /* 0: keep nothing */
    size_t max_bytes;            /* 0: no limit */
    size_t max_groups;           /* 0: no limit */
    size_t max_family_groups;    /* of one family; 0: no limit */
    bool drops_least_used_group; /* else the oldest group goes first */
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

/* What a descriptor remembers: where its key led last. Zeroed before first use. Read and written without a lock. */
struct cache_memo {
    CACHE_ATOMIC(struct cache_entry *) entry;
    CACHE_ATOMIC(uint64_t) serial;
};

ingot_status_t memory_cache_create(struct memory_cache **cache, const ingot_allocator_t *allocator,
                                   const struct memory_cache_ops *ops, void *user,
                                   const struct memory_cache_limits *limits);
/* Evicts all and keeps nothing from now on; requests still work. No event is raised. */
void memory_cache_close(struct memory_cache *cache);
/* No entry is held and no call is under way any more. */
void memory_cache_destroy(struct memory_cache *cache);

/* ---- entries ---- */

/* An entry that is not in the cache, with one reference, owning value from now on. NULL when out of memory: then the
 * caller still owns value. */
struct cache_entry *cache_entry_create(struct memory_cache *cache, void *value);
void *cache_entry_value(const struct cache_entry *entry);
void cache_entry_retain(struct cache_entry *entry); /* by one who holds a reference */
void cache_entry_release(struct cache_entry *entry);

/* ---- requests ---- */

/* A request's key. memo and group may be NULL. A kept entry is in the groups that it was asked for in; the cache has
 * names of its own for them. */
struct cache_request {
    struct hash128 hash;
    const void *key; /* for ops.matches */
    struct cache_memo *memo;
    const char *group;
    bool is_transient; /* neither found nor kept: only those who ask at the same time share what is made */
};

/* The entry that the memo remembers, if it is still in the cache, with a reference; else NULL. The fast path: no lock,
 * no write to memory that another thread writes. */
struct cache_entry *memory_cache_recall(struct memory_cache *cache, struct cache_memo *memo);
/* By memo, then by content; NULL where there is none. Counts a hit, never a miss. */
struct cache_entry *memory_cache_find(struct memory_cache *cache, const struct cache_request *request);

enum cache_outcome { CACHE_HIT, CACHE_WAITED, CACHE_MADE };

/* Makes the value's entry (by cache_entry_create, not in the cache), and says how many bytes it counts for. Called
 * without any lock. */
typedef ingot_status_t (*cache_maker)(struct cache_entry **entry, size_t *bytes, void *user);

/*
 * The entry of a request: found, or made by this thread, or by another while this one waits. One maker runs a key.
 *
 * A maker's INGOT_BUILD_FAILED and INGOT_OUT_OF_MEMORY go to all waiters with the detail sentence. After
 * INGOT_INVALID_ARGUMENTS, INGOT_NOT_CACHEABLE and any INGOT_BLOB_* (faults of what that caller brought) each waiter
 * starts over. After another failure one waiter starts over, once; if that fails likewise, the rest are told. A maker
 * that asks for its own key gets INGOT_INVALID_ARGUMENTS. An entry over the byte limit by itself, or made after a clear
 * or close during its making, is returned and not kept.
 *
 * On INGOT_OUT_OF_MEMORY the cache is emptied (EVICTED_MEMORY) and the maker is called once more, unless it made room
 * itself (memory_cache_make_room).
 */
ingot_status_t memory_cache_get_or_make(struct memory_cache *cache, const struct cache_request *request,
                                        cache_maker maker, void *user, struct cache_entry **entry,
                                        enum cache_outcome *outcome);

/*
 * For a maker that lacks memory: evicts everything, and true, so that it tries once more. False: that was done already
 * for the same request of this thread (or, in a nested request, for the one around it), so trying again helps nobody.
 * Outside of makers always true.
 */
bool memory_cache_make_room(struct memory_cache *cache);

/*
 * Puts an entry into the cache, in place of the one of its key if there is one (EVICTED_REPLACED); it stays when a
 * maker of the key that runs now is done. False: limits or memory do not allow it, and what had its key stays.
 */
bool memory_cache_put(struct memory_cache *cache, const struct cache_request *request, struct cache_entry *entry,
                      size_t bytes);
/* Finds the entry and takes it out of the cache, for one caller alone; NULL where there is none. Counts a hit. */
struct cache_entry *memory_cache_take(struct memory_cache *cache, const struct cache_request *request);
/* Takes an entry that the caller holds out of the cache (EVICTED_CLEAR). False: it is not in it, or no longer. */
bool memory_cache_forget(struct memory_cache *cache, struct cache_entry *entry);

/* An entry that the caller holds counts for so many bytes from now on, if it is in the cache. What is over the limit
 * then has to go: the entry itself if it is too large alone, else the least recently used. */
void memory_cache_recount(struct memory_cache *cache, struct cache_entry *entry, size_t bytes);

/* ---- limits ---- */

/* True if no entry of so many bytes can be kept, however few others there are. */
bool memory_cache_is_too_large(struct memory_cache *cache, size_t bytes);
void memory_cache_set_limits(struct memory_cache *cache, const struct memory_cache_limits *limits);
/* Evicts what is over these limits now; the cache's own stay. */
void memory_cache_trim(struct memory_cache *cache, const struct memory_cache_limits *limits);
void memory_cache_get_limits(struct memory_cache *cache, struct memory_cache_limits *limits);
/* Evicts the entries of a group that are in no other and were not asked for without one, or all for NULL. What is being
 * made for them now will not be kept, unless the reason is EVICTED_MEMORY: then only what is there has to go. */
void memory_cache_clear(struct memory_cache *cache, const char *group, enum eviction_reason reason);
/* The same for all groups whose names the filter wants. It is called under a lock and must not call the cache. */
typedef bool (*cache_group_filter)(const char *group, const void *wanted);
void memory_cache_clear_groups(struct memory_cache *cache, cache_group_filter filter, const void *wanted,
                               enum eviction_reason reason);
void memory_cache_get_counts(struct memory_cache *cache, struct memory_cache_counts *counts);

#endif
