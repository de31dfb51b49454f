/*
 * cache_entry.h - defines the entries of the in-memory cache, and manages their memory and their reference counts.
 *
 * A reference to a cached entry is counted in a cell of the calling thread's stripe (striped_count.h), so taking and
 * dropping it writes no memory that other stripes write. All other references are counted in `central`. The number of
 * references is the sum of all counts. It is known, and can become zero, only after the entry has left the cache.
 *
 * The layout lets a hit read little memory. Entries are in chunks that are aligned to their size, so the chunk's
 * address is computed from an entry's. In a chunk, the serials are adjacent, and so are the cells of each stripe. The
 * cells of a stripe are allocated when one of its threads first finds an entry of the chunk.
 *
 * A life of an entry begins when it is taken from the pool of free entries and ends when its last reference is dropped.
 * Serials are unique in the cache, so a program descriptor that remembers an entry with its serial can tell if the
 * entry has begun another life.
 *
 * Invariants (doc/threading.md has the proof):
 *  - an entry's cells are open from the end of entry_publish to the beginning of entry_withdraw, once per life;
 *  - serial is written before the cells are opened. If the entry leaves one of several groups, it gets a new unique
 *    serial, so that descriptors that remember the entry look it up again;
 *  - chunks and cells are freed with the cache.
 * Locks: pool->lock guards the free list and the list of chunks; only the allocator is called under it.
 */
#ifndef INGOT_CORE_MEMORY_CACHE_CACHE_ENTRY_H
#define INGOT_CORE_MEMORY_CACHE_CACHE_ENTRY_H

#include <pthread.h>
#include <stddef.h>

#include "core/base/striped_count.h"
#include "core/memory_cache/cache_types.h"

/* A chunk, with what malloc adds to it, fills a page. */
enum { CHUNK_SIZE = 4096, ENTRIES_PER_CHUNK = 44, CHUNK_NUMBERS = 64, CACHE_LINE = 64 };

struct cache_cell {
    stripe_cell count;
    _Atomic uint64_t last_used; /* stamp of the latest hit here; see cache_recency.h */
};

/* An entry's membership in a group. Guarded by cache->lock. */
struct cache_member {
    struct cache_entry *entry;
    struct cache_group *group;
    struct cache_member *previous; /* `previous` and `next` link the members of the same group */
    struct cache_member *next;
    struct cache_member *more; /* the entry's membership in another group */
};

struct cache_entry {
    void *value;
    uint64_t hash; /* low half of the key's hash; written before entry_publish */
    _Atomic int64_t central;
    /* guarded by cache->lock while the entry is in the cache; afterwards used only by the evicting thread */
    uint64_t stamp;           /* the stamp seen when the entry was last checked */
    struct cache_entry *next; /* links free entries (guarded by pool->lock) and evicted ones */
    size_t bytes;
    struct cache_member *members;
    uint32_t heap_index;
    /* part of the hash of the name of the entry's first group, or 0 if the entry is in no group; relaxed, because it is
     * only used to avoid taking the lock */
    _Atomic uint32_t group_hash;
    atomic_bool is_ungrouped; /* true if the entry was requested without a group, so that it outlives its groups;
                               * relaxed */
    bool is_kept;             /* true if the entry is in the cache; guarded by cache->lock */
    uint8_t reason;           /* why it was evicted: an eviction_reason */
};

struct cache_chunk {
    struct cache_pool *pool;
    size_t number;
    _Atomic(struct cache_cell *) cells[STRIPE_COUNT]; /* for each stripe, the cells of all entries of the chunk, or
                                                       * NULL; release/acquire */
    /* each entry's serial in its current life, or 0 if it was not published yet */
    _Atomic uint64_t serials[ENTRIES_PER_CHUNK];
    struct cache_entry entries[ENTRIES_PER_CHUNK];
};
/* The directory of all chunks, by number. When it is full, a larger copy replaces it. The old directories are kept for
 * threads that still read them. */
struct chunk_directory {
    struct chunk_directory *previous;
    size_t capacity;
    struct cache_chunk *chunks[];
};
_Static_assert(sizeof(struct cache_chunk) <= CHUNK_SIZE - 2 * sizeof(void *), "a chunk does not fit in a page");

/* The memory that an entry needs in addition to its value: its share of a chunk, cells of two stripes, and its share
 * of the table and of the eviction order. */
enum {
    CACHE_ENTRY_TABLE_BYTES = 4 * sizeof(void *), /* the table has at most four places per entry */
    CACHE_ENTRY_ORDER_BYTES = 4 * sizeof(void *), /* the heap has at most two items per entry */
    CACHE_ENTRY_OVERHEAD = CHUNK_SIZE / ENTRIES_PER_CHUNK + 2 * sizeof(struct cache_cell) + CACHE_ENTRY_TABLE_BYTES +
                           CACHE_ENTRY_ORDER_BYTES
};

/* The fields that hits of one stripe write, apart from cells. */
struct cache_stripe {
    _Alignas(STRIPE_LINE) _Atomic uint64_t stamp;
    _Atomic uint64_t hits; /* hits that are not counted in cells */
};

struct cache_pool {
    struct cache_stripe stripes[STRIPE_COUNT];
    /* The fields from here to `directory` are read by hits. The generation is advanced by insertions and evictions; see
     * cache_recency.h. */
    _Alignas(STRIPE_LINE) _Atomic uint64_t generation;
    ingot_allocator_t allocator;
    struct memory_cache_ops ops;
    void *user;
    _Atomic(struct chunk_directory *) directory; /* written under pool->lock; release/acquire */
    _Alignas(STRIPE_LINE) pthread_mutex_t lock;
    struct cache_entry *free; /* guarded by pool->lock */
    size_t chunk_count;       /* guarded by pool->lock */
};

void cache_pool_init(struct cache_pool *pool, const ingot_allocator_t *allocator, const struct memory_cache_ops *ops,
                     void *user);
void cache_pool_fini(struct cache_pool *pool);
/* Makes an entry that has one reference and is not in the cache. Returns NULL if out of memory. */
struct cache_entry *cache_pool_take(struct cache_pool *pool, void *value);

/* Makes an entry retainable by threads that find it, and adds the cache's own reference. The hash and the value must
 * be set. Requires cache->lock. */
void entry_publish(struct cache_entry *entry, uint64_t serial);
/* Undoes entry_publish: later lookups find nothing, and the cache's reference becomes the caller's. Returns the
 * number of hits in the entry's cells. Requires cache->lock. */
uint64_t entry_withdraw(struct cache_entry *entry);
/* Returns the number of hits in a cached entry's cells. Requires cache->lock. */
uint64_t entry_hits(const struct cache_entry *entry);
/* Retains a cached entry and counts a hit. Returns the stripe's cell, or NULL if the cell cannot be allocated; even
 * then, the hit is counted. Requires cache->lock. */
struct cache_cell *entry_hit_locked(struct cache_entry *entry, unsigned stripe);
/* Undoes entry_try_hit if the entry that was hit turned out to have another key. */
void entry_undo_hit(struct cache_entry *entry, unsigned stripe);
/* Moves the hits of a full cell to the stripe's counter. The caller holds the entry. */
void entry_move_hits(struct cache_entry *entry, unsigned stripe);
/* Drops a reference that is not counted in a cell. */
void entry_release_centrally(struct cache_entry *entry);
/* Returns the latest stamp in the entry's cells. */
uint64_t entry_last_used(const struct cache_entry *entry);

static inline struct cache_chunk *entry_chunk(const struct cache_entry *entry)
{
    return (struct cache_chunk *)((uintptr_t)entry & ~(uintptr_t)(CHUNK_SIZE - 1));
}

static inline struct cache_pool *entry_pool(const struct cache_entry *entry)
{
    return entry_chunk(entry)->pool;
}

static inline size_t entry_index(const struct cache_entry *entry)
{
    const uint32_t offset = (uint32_t)((uintptr_t)entry % CHUNK_SIZE - offsetof(struct cache_chunk, entries));
    return offset / (uint32_t)sizeof(struct cache_entry);
}

/* Returns the entry's number, which the table stores instead of a pointer. It is never 0. */
static inline uint32_t entry_number(const struct cache_entry *entry)
{
    return (uint32_t)(entry_chunk(entry)->number * CHUNK_NUMBERS + entry_index(entry) + 1);
}

static inline struct cache_entry *entry_of_number(const struct cache_pool *pool, uint32_t number)
{
    /* acquire: the chunk entered the directory before its entry's number was written to the table */
    const struct chunk_directory *directory = atomic_load_explicit(&pool->directory, memory_order_acquire);
    return &directory->chunks[(number - 1) / CHUNK_NUMBERS]->entries[(number - 1) % CHUNK_NUMBERS];
}

static inline _Atomic uint64_t *entry_serial(const struct cache_entry *entry)
{
    return &entry_chunk(entry)->serials[entry_index(entry)];
}

/* Returns the stripe's cell, or NULL if the stripe has no cells for this chunk yet. */
static inline struct cache_cell *entry_cell(const struct cache_entry *entry, unsigned stripe)
{
    /* acquire: the cells are seen initialized */
    struct cache_cell *cells = atomic_load_explicit(&entry_chunk(entry)->cells[stripe], memory_order_acquire);
    return cells != NULL ? cells + entry_index(entry) : NULL;
}

/*
 * Retains the entry and counts a hit. Works for any entry in any state, because entries are not freed before the cache.
 * On success, returns the stripe's cell, and the caller holds a reference in the entry's current life. Returns NULL if
 * the entry is not in the cache or must be looked up under the lock.
 */
static inline struct cache_cell *entry_try_hit(struct cache_entry *entry, unsigned stripe)
{
    struct cache_cell *cell = entry_cell(entry, stripe);
    if (cell == NULL)
        return NULL;
    const uint64_t before = cell_add(&cell->count, CELL_HIT + 1);
    if (!cell_is_open(before))
        return NULL;
    if (before >= CELL_HITS_FULL)
        entry_move_hits(entry, stripe);
    return cell;
}

/* Adds a reference. The caller must already hold one, which keeps the entry alive. */
static inline void entry_retain(struct cache_entry *entry)
{
    struct cache_cell *cell = entry_cell(entry, stripe_number());
    if (cell == NULL || !cell_is_open(cell_add(&cell->count, 1)))
        atomic_fetch_add_explicit(&entry->central, 1, memory_order_relaxed);
}

static inline void entry_release(struct cache_entry *entry)
{
    struct cache_cell *cell = entry_cell(entry, stripe_number());
    if (cell == NULL || !cell_is_open(cell_add(&cell->count, (uint64_t)-1)))
        entry_release_centrally(entry);
}

#endif
