/*
 * memory_cache.h - keyed, shared, evictable entries: the engine under programs and under an integrator's own objects.
 *
 * An entry is a counted handle on a value. Entries live in pools of the cache that are type-stable: their memory is
 * reused for other entries, and returned only when the cache is destroyed, so that a stale pointer to an entry may be
 * looked at and found stale. A hit writes only the calling thread's own counters. doc/threading.md has the proof.
 */
#ifndef INGOT_CORE_MEMORY_CACHE_MEMORY_CACHE_H
#define INGOT_CORE_MEMORY_CACHE_MEMORY_CACHE_H

#include "core/memory_cache/cache_types.h"

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

/* ---- requests ---- */

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
void memory_cache_clear_groups(struct memory_cache *cache, cache_group_filter filter, const void *wanted,
                               enum eviction_reason reason);
void memory_cache_get_counts(struct memory_cache *cache, struct memory_cache_counts *counts);

#endif
