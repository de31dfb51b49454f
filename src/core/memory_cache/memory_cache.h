/*
 * memory_cache.h - a cache of shared entries by key, for programs and for an integrator's own objects.
 *
 * An entry is a reference-counted handle of a value. The cache's memory is type-stable: an entry's memory is reused for
 * other entries only, and freed only with the cache, so a stale pointer may be read and recognized as stale. A hit
 * writes only counters of the calling thread's stripe. doc/threading.md has the proof.
 */
#ifndef INGOT_CORE_MEMORY_CACHE_MEMORY_CACHE_H
#define INGOT_CORE_MEMORY_CACHE_MEMORY_CACHE_H

#include "core/memory_cache/cache_types.h"

ingot_status_t memory_cache_create(struct memory_cache **cache, const ingot_allocator_t *allocator,
                                   const struct memory_cache_ops *ops, void *user,
                                   const struct memory_cache_limits *limits);
/* Evicts all entries and keeps no more from then on; requests still work. Emits no event. */
void memory_cache_close(struct memory_cache *cache);
/* Frees the cache. No entry may be held and no call may be running. */
void memory_cache_destroy(struct memory_cache *cache);

/* ---- entries ---- */

/* Makes an entry that is not in the cache, has one reference and owns value. Returns NULL if out of memory; the caller
 * still owns value then. */
struct cache_entry *cache_entry_create(struct memory_cache *cache, void *value);

/* ---- requests ---- */

/* Returns the memo's entry with a reference. Returns NULL if the entry has left the cache, or if memory_cache_find must
 * look it up, which prepares the thread's stripe. This is the fast path: it takes no lock and writes no memory that
 * threads of other stripes write. */
struct cache_entry *memory_cache_recall(struct cache_memo *memo);
/* True if it finds an entry by content, without a lock. Counts nothing, and may miss an entry that is in the cache. */
bool memory_cache_glimpse(struct memory_cache *cache, const struct cache_request *request);
/* Finds an entry by memo, then by content. Returns NULL if there is none. Counts a hit, but never a miss. */
struct cache_entry *memory_cache_find(struct memory_cache *cache, const struct cache_request *request);

enum cache_outcome { CACHE_HIT, CACHE_WAITED, CACHE_MADE };

/* Makes the value's entry with cache_entry_create, and sets how many bytes it counts for. Called without any lock. */
typedef ingot_status_t (*cache_maker)(struct cache_entry **entry, size_t *bytes, void *user);

/*
 * Returns a request's entry. The entry is found, made by this thread, or made by another thread while this one waits.
 * Only one maker runs per key.
 *
 * All waiters get a maker's INGOT_BUILD_FAILED or INGOT_OUT_OF_MEMORY, with the detail sentence. After
 * INGOT_INVALID_ARGUMENTS, INGOT_NOT_CACHEABLE and any INGOT_BLOB_* (caused by that caller's arguments) each waiter
 * starts over. After another failure one waiter starts over, once; if that fails too, the rest get the failure. A maker
 * that asks for its own key gets INGOT_INVALID_ARGUMENTS. An entry is returned but not kept if it alone exceeds the
 * byte limit, or if the cache was cleared or closed while it was being made.
 *
 * On INGOT_OUT_OF_MEMORY the cache is emptied (EVICTED_MEMORY) and the maker is called once more, unless it made room
 * itself (memory_cache_make_room).
 */
ingot_status_t memory_cache_get_or_make(struct memory_cache *cache, const struct cache_request *request,
                                        cache_maker maker, void *user, struct cache_entry **entry,
                                        enum cache_outcome *outcome);

/*
 * Called by a maker that is out of memory. Evicts everything and returns true, so that the maker tries once more.
 * Returns false if this was already done for the same request of this thread or for an enclosing one, because another
 * try is useless then. Outside of makers, always returns true.
 */
bool memory_cache_make_room(struct memory_cache *cache);

/*
 * Puts an entry into the cache and replaces the one with its key (EVICTED_REPLACED); the new entry stays even if a
 * maker of the key is running and ends later. Returns false if limits or memory do not allow it; the previous entry
 * stays then.
 */
bool memory_cache_put(struct memory_cache *cache, const struct cache_request *request, struct cache_entry *entry,
                      size_t bytes);
/* Finds an entry and removes it from the cache, so that only one caller gets it. Returns NULL if there is none. Counts
 * a hit. */
struct cache_entry *memory_cache_take(struct memory_cache *cache, const struct cache_request *request);
/* Removes an entry that the caller holds from the cache (EVICTED_CLEAR). Returns false if it is not in the cache. */
bool memory_cache_forget(struct memory_cache *cache, struct cache_entry *entry);

/* Sets the bytes that a cached entry counts for; the caller holds the entry. Then evicts what exceeds the limit: the
 * entry itself if it alone is too large, otherwise the least recently used ones. */
void memory_cache_recount(struct memory_cache *cache, struct cache_entry *entry, size_t bytes);

/* ---- limits ---- */

/* True if an entry of this size can never be kept, even in an empty cache. */
bool memory_cache_is_too_large(struct memory_cache *cache, size_t bytes);
void memory_cache_set_limits(struct memory_cache *cache, const struct memory_cache_limits *limits);
/* Evicts what exceeds these limits; the cache's own limits do not change. */
void memory_cache_trim(struct memory_cache *cache, const struct memory_cache_limits *limits);
void memory_cache_get_limits(struct memory_cache *cache, struct memory_cache_limits *limits);
/* Evicts a group's entries, except those that are in another group or were requested without one; NULL: all entries.
 * Entries that are now being made for the group will not be kept, unless the reason is EVICTED_MEMORY. */
void memory_cache_clear(struct memory_cache *cache, const char *group, enum eviction_reason reason);
/* Does the same for all groups that the filter selects. The filter is called under a lock and must not call the
 * cache. */
void memory_cache_clear_groups(struct memory_cache *cache, cache_group_filter filter, const void *wanted,
                               enum eviction_reason reason);
void memory_cache_get_counts(struct memory_cache *cache, struct memory_cache_counts *counts);

#endif
