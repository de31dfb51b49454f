/*
 * memory_cache.h - caches reference-counted entries by key, for programs and for an integrator's own objects.
 *
 * An entry is a reference-counted handle of a value. An entry's memory is reused only for other entries and freed only
 * with the cache, so a stale pointer may be read and is recognized as stale. A hit writes only counters of the calling
 * thread's stripe. doc/threading.md has the proof.
 */
#ifndef INGOT_CORE_MEMORY_CACHE_MEMORY_CACHE_H
#define INGOT_CORE_MEMORY_CACHE_MEMORY_CACHE_H

#include "core/memory_cache/cache_types.h"

ingot_status_t memory_cache_create(struct memory_cache **cache, const ingot_allocator_t *allocator,
                                   const struct memory_cache_ops *ops, void *user,
                                   const struct memory_cache_limits *limits);
/* Evicts all entries and keeps no further ones; requests still work. Emits no event. */
void memory_cache_close(struct memory_cache *cache);
/* Frees the cache. No entry may be held and no call may be running. */
void memory_cache_destroy(struct memory_cache *cache);

/* ---- entries ---- */

/* Makes an entry that is not in the cache, has one reference and owns `value`. If out of memory, returns NULL, and
 * the caller still owns `value`. */
struct cache_entry *cache_entry_create(struct memory_cache *cache, void *value);

/* ---- requests ---- */

/* Returns the entry that the memo remembers, with a reference. Returns NULL if the entry has left the cache, or if
 * the thread must call memory_cache_lookup first, which gives it a stripe: the set of counters that a group of threads
 * uses (striped_count.h). This is the fast path: it takes no lock
 * and writes no memory that threads of other stripes write. */
struct cache_entry *cache_memo_lookup(struct cache_memo *memo);
/* True if it finds an entry by content. Takes no lock and counts nothing, but may miss an entry that is in the
 * cache. */
bool memory_cache_contains(struct memory_cache *cache, const struct cache_request *request);
/* Finds an entry by the memo, then by content. Returns NULL if there is none. Counts a hit, but never a miss. Does not
 * add the entry to the request's group, so another request with this memo would not, either. */
struct cache_entry *memory_cache_lookup(struct memory_cache *cache, const struct cache_request *request);
/* Does the same, and adds the entry to the request's group. */
struct cache_entry *memory_cache_get(struct memory_cache *cache, const struct cache_request *request);

enum cache_outcome { CACHE_HIT, CACHE_WAITED, CACHE_MADE };

/* Makes an entry with cache_entry_create, and sets *bytes to the number of bytes that it counts for. Called without
 * any lock. */
typedef ingot_status_t (*cache_maker)(struct cache_entry **entry, size_t *bytes, void *user);

/*
 * Returns a request's entry. The entry is found, made by this thread, or made by another thread while this one waits.
 * Only one maker runs per key at a time.
 *
 * If a maker fails, what the waiting threads get depends on the failure. After INGOT_BUILD_FAILED or
 * INGOT_OUT_OF_MEMORY, all get the same failure with its error message. After INGOT_INVALID_ARGUMENTS,
 * INGOT_DEADLOCK, INGOT_NOT_CACHEABLE or any INGOT_BLOB_*, which that maker's arguments caused, each starts over. After
 * any other failure, one of them tries once more; if that fails too, the others get that failure.
 *
 * A maker that requests its own key gets INGOT_DEADLOCK. An entry is returned but not kept if it alone exceeds
 * the byte limit, or if the cache was cleared or closed while it was being made.
 *
 * If a maker returns INGOT_OUT_OF_MEMORY, the cache is emptied (EVICTED_MEMORY) and the maker is called once more,
 * unless it has already called memory_cache_make_room.
 */
ingot_status_t memory_cache_get_or_make(struct memory_cache *cache, const struct cache_request *request,
                                        cache_maker maker, void *user, struct cache_entry **entry,
                                        enum cache_outcome *outcome);

/*
 * Evicts everything for a maker that is out of memory. Returns true if the maker should try again. Returns false if
 * this thread has already made room for the same request or for one that encloses it, because another try would be
 * useless. Outside of makers, always returns true.
 */
bool memory_cache_make_room(struct memory_cache *cache);

/*
 * Puts an entry into the cache and evicts the entry that has its key, if any (EVICTED_REPLACED). If a maker of the key
 * is running, the new entry stays even when that maker ends. If limits or memory do not allow it, returns false and
 * leaves the previous entry in the cache.
 */
bool memory_cache_put(struct memory_cache *cache, const struct cache_request *request, struct cache_entry *entry,
                      size_t bytes);
/* Finds an entry and removes it from the cache, so that only one caller gets it. Returns NULL if there is none.
 * Counts a hit. */
struct cache_entry *memory_cache_take(struct memory_cache *cache, const struct cache_request *request);
/* Removes an entry that the caller holds from the cache (EVICTED_CLEAR). Returns false if it is not in the cache. */
bool memory_cache_forget(struct memory_cache *cache, struct cache_entry *entry);

/* Changes the number of bytes that a cached entry counts for. The caller holds the entry. Then evicts what exceeds
 * the limit: the entry itself if it alone is too large, otherwise the least recently used entries. */
void memory_cache_recount(struct memory_cache *cache, struct cache_entry *entry, size_t bytes);

/* ---- limits ---- */

/* True if an entry of this size can never be kept, even in an empty cache. */
bool memory_cache_is_too_large(const struct memory_cache *cache, size_t bytes);
const struct memory_cache_limits *memory_cache_get_limits(const struct memory_cache *cache);
/* Evicts the entries of the groups that the filter selects, except those that are in another group or were also
 * requested without one. Entries that are being made for these groups will not be kept. The filter is called under
 * cache->lock and must not call the cache. */
void memory_cache_clear_groups(struct memory_cache *cache, cache_group_filter filter, const void *wanted,
                               enum eviction_reason reason);
/* Does the same for the group of this name. If `group` is NULL, evicts all entries; then those that are being made are
 * kept if the reason is EVICTED_MEMORY. */
void memory_cache_clear(struct memory_cache *cache, const char *group, enum eviction_reason reason);
void memory_cache_get_counts(struct memory_cache *cache, struct memory_cache_counts *counts);

#endif
