/*
 * cache_entry.c - allocates entries, and moves them into and out of the cache; see cache_entry.h.
 */
#include "core/memory_cache/cache_entry.h"

#include <string.h>

#include "core/base/error.h"

enum { CELLS_SIZE = ENTRIES_PER_CHUNK * sizeof(struct cache_cell), FIRST_CHUNKS = 16 };

static size_t directory_size(size_t capacity)
{
    return sizeof(struct chunk_directory) + capacity * sizeof(struct cache_chunk *);
}

/* Returns the directory. Requires pool->lock (or that no other thread uses the pool), so relaxed suffices. */
static struct chunk_directory *directory_of(const struct cache_pool *pool)
{
    return atomic_load_explicit(&pool->directory, memory_order_relaxed);
}

void cache_pool_init(struct cache_pool *pool, const ingot_allocator_t *allocator, const struct memory_cache_ops *ops,
                     void *user)
{
    for (size_t i = 0; i < STRIPE_COUNT; ++i) {
        atomic_init(&pool->stripes[i].stamp, 0);
        atomic_init(&pool->stripes[i].hits, 0);
    }
    atomic_init(&pool->generation, 1);
    pool->allocator = *allocator;
    pool->ops = *ops;
    pool->user = user;
    atomic_init(&pool->directory, NULL);
    pool->free = NULL;
    pool->chunk_count = 0;
    pthread_mutex_init(&pool->lock, NULL);
}

/* Returns a stripe's cells. Relaxed suffices, because this is called only while the chunk's cells cannot change: under
 * cache->lock, or while the pool is being freed. */
static struct cache_cell *cells_of(const struct cache_chunk *chunk, unsigned stripe)
{
    return atomic_load_explicit(&chunk->cells[stripe], memory_order_relaxed);
}

void cache_pool_fini(struct cache_pool *pool)
{
    struct chunk_directory *directory = directory_of(pool);

    for (size_t i = 0; i < pool->chunk_count; ++i) {
        struct cache_chunk *chunk = directory->chunks[i];
        for (unsigned stripe = 0; stripe < STRIPE_COUNT; ++stripe)
            memory_free(&pool->allocator, cells_of(chunk, stripe), CELLS_SIZE);
        memory_free(&pool->allocator, chunk, sizeof(*chunk));
    }
    while (directory != NULL) {
        struct chunk_directory *previous = directory->previous;
        memory_free(&pool->allocator, directory, directory_size(directory->capacity));
        directory = previous;
    }
    pthread_mutex_destroy(&pool->lock);
}

/* Makes room in the directory for one more chunk. Returns false if out of memory. Requires pool->lock. */
static bool reserve_number(struct cache_pool *pool)
{
    struct chunk_directory *old = directory_of(pool);
    const size_t old_capacity = old != NULL ? old->capacity : 0;
    const size_t capacity = old != NULL ? 2 * old_capacity : FIRST_CHUNKS;

    if (pool->chunk_count < old_capacity)
        return true;
    struct chunk_directory *directory =
        capacity <= UINT32_MAX / CHUNK_NUMBERS ? memory_allocate(&pool->allocator, directory_size(capacity)) : NULL;
    if (directory == NULL)
        return false;
    directory->previous = old;
    directory->capacity = capacity;
    if (old != NULL)
        memcpy(directory->chunks, old->chunks, old_capacity * sizeof(*old->chunks));
    atomic_store_explicit(&pool->directory, directory, memory_order_release); /* pairs with entry_of_number */
    return true;
}

static struct cache_chunk *chunk_create(struct cache_pool *pool)
{
    struct cache_chunk *chunk = memory_allocate_aligned(&pool->allocator, sizeof(*chunk), CHUNK_SIZE);
    if ((uintptr_t)chunk % CHUNK_SIZE != 0) { /* the allocator cannot align memory to CHUNK_SIZE */
        memory_free(&pool->allocator, chunk, sizeof(*chunk));
        return NULL;
    }
    if (chunk == NULL)
        return NULL;
    chunk->pool = pool;
    chunk->number = pool->chunk_count;
    for (unsigned stripe = 0; stripe < STRIPE_COUNT; ++stripe)
        atomic_init(&chunk->cells[stripe], NULL);
    for (size_t i = 0; i < ENTRIES_PER_CHUNK; ++i) {
        struct cache_entry *entry = &chunk->entries[i];
        atomic_init(&chunk->serials[i], 0);
        atomic_init(&entry->central, 0);
        atomic_init(&entry->group_hash, 0);
        atomic_init(&entry->is_ungrouped, false);
        entry->is_kept = false;
        entry->next = i + 1 < ENTRIES_PER_CHUNK ? entry + 1 : NULL;
    }
    return chunk;
}

/* Returns a stripe's cells, which the first call allocates, or NULL if out of memory. Requires cache->lock, so that
 * no entry of the chunk enters or leaves the cache at the same time. */
static struct cache_cell *get_cells(struct cache_chunk *chunk, unsigned stripe)
{
    struct cache_cell *cells = cells_of(chunk, stripe);
    if (cells != NULL)
        return cells;
    cells = memory_allocate_aligned(&chunk->pool->allocator, CELLS_SIZE, CACHE_LINE);
    if (cells == NULL)
        return NULL;
    for (size_t i = 0; i < ENTRIES_PER_CHUNK; ++i) {
        atomic_init(&cells[i].count, chunk->entries[i].is_kept ? CELL_OPEN : CELL_CLOSED);
        atomic_init(&cells[i].last_used, 0);
    }
    atomic_store_explicit(&chunk->cells[stripe], cells, memory_order_release); /* pairs with entry_cell */
    return cells;
}

struct cache_entry *cache_pool_take(struct cache_pool *pool, void *value)
{
    pthread_mutex_lock(&pool->lock);
    if (pool->free == NULL) {
        struct cache_chunk *chunk = reserve_number(pool) ? chunk_create(pool) : NULL;
        if (chunk != NULL) {
            directory_of(pool)->chunks[pool->chunk_count++] = chunk;
            pool->free = &chunk->entries[0];
        }
    }
    struct cache_entry *entry = pool->free;
    if (entry != NULL)
        pool->free = entry->next;
    pthread_mutex_unlock(&pool->lock);

    if (entry == NULL)
        return NULL;
    entry->value = value;
    entry->members = NULL;
    /* relaxed, all: other threads read these fields only after the caller has passed them the entry, or after they
     * have retained it, which entry_publish allows */
    atomic_store_explicit(&entry->group_hash, 0, memory_order_relaxed);
    atomic_store_explicit(&entry->is_ungrouped, false, memory_order_relaxed);
    atomic_store_explicit(entry_serial(entry), 0, memory_order_relaxed);
    atomic_store_explicit(&entry->central, 1, memory_order_relaxed);
    return entry;
}

void entry_publish(struct cache_entry *entry, uint64_t serial)
{
    struct cache_chunk *chunk = entry_chunk(entry);

    (void)get_cells(chunk, stripe_number()); /* if this fails, the thread's references are counted in `central` */
    /* relaxed: opening a cell makes the serial visible to threads that retain the entry in that cell */
    atomic_store_explicit(entry_serial(entry), serial, memory_order_relaxed);
    /* Done before the cells are opened, because a reference that is taken in an open cell may be dropped in
     * `central`. */
    atomic_fetch_add_explicit(&entry->central, CENTRAL_BIG + 1, memory_order_relaxed);
    entry->is_kept = true;
    for (unsigned stripe = 0; stripe < STRIPE_COUNT; ++stripe) {
        if (cells_of(chunk, stripe) != NULL)
            cell_open(&entry_cell(entry, stripe)->count);
    }
}

uint64_t entry_withdraw(struct cache_entry *entry)
{
    const struct cache_chunk *chunk = entry_chunk(entry);
    int64_t references = 0;
    uint64_t hits = 0;

    entry->is_kept = false;
    for (unsigned stripe = 0; stripe < STRIPE_COUNT; ++stripe) {
        if (cells_of(chunk, stripe) == NULL)
            continue;
        const uint64_t content = cell_close(&entry_cell(entry, stripe)->count);
        references += cell_references(content);
        hits += cell_hits(content);
    }
    /* acq_rel: passes everything that closing the cells acquired to the thread that drops the last reference. The
     * caller's own reference keeps the count above 0. */
    atomic_fetch_add_explicit(&entry->central, references - CENTRAL_BIG, memory_order_acq_rel);
    return hits;
}

uint64_t entry_hits(const struct cache_entry *entry)
{
    uint64_t hits = 0;

    for (unsigned stripe = 0; stripe < STRIPE_COUNT; ++stripe) {
        struct cache_cell *cell = entry_cell(entry, stripe);
        if (cell != NULL)
            hits += cell_hits(atomic_load_explicit(&cell->count, memory_order_relaxed)); /* only the number matters */
    }
    return hits;
}

static void add_hits(struct cache_entry *entry, unsigned stripe, uint64_t hits)
{
    atomic_fetch_add_explicit(&entry_pool(entry)->stripes[stripe].hits, hits, memory_order_relaxed);
}

struct cache_cell *entry_hit_locked(struct cache_entry *entry, unsigned stripe)
{
    if (get_cells(entry_chunk(entry), stripe) != NULL)
        return entry_try_hit(entry, stripe);
    /* relaxed: the cache's own reference keeps the entry alive */
    atomic_fetch_add_explicit(&entry->central, 1, memory_order_relaxed);
    add_hits(entry, stripe, 1);
    return NULL;
}

void entry_undo_hit(struct cache_entry *entry, unsigned stripe)
{
    add_hits(entry, stripe, (uint64_t)-1); /* not subtracted from the cell, because the hit may already have been moved
                                            * out of it */
    entry_release(entry);
}

void entry_move_hits(struct cache_entry *entry, unsigned stripe)
{
    stripe_cell *cell = &entry_cell(entry, stripe)->count;
    uint64_t content = atomic_load_explicit(cell, memory_order_relaxed);

    do {
        if (!cell_is_open(content))
            return; /* entry_withdraw has already counted these hits */
        /* relaxed: a read-modify-write operation continues the release sequences of earlier drops */
    } while (!atomic_compare_exchange_weak_explicit(cell, &content, content % CELL_HIT, memory_order_relaxed,
                                                    memory_order_relaxed));
    add_hits(entry, stripe, cell_hits(content));
}

/* Ends the life of an entry whose last reference was dropped: puts the entry on the free list and destroys the
 * value. Not inline, because the functions that release an entry would save more registers on each call. */
__attribute__((noinline)) static void end_life(struct cache_entry *entry)
{
    struct cache_pool *pool = entry_pool(entry);
    void (*const destroy)(void *, void *) = pool->ops.destroy;
    void *const user = pool->user;
    void *const value = entry->value;

    pthread_mutex_lock(&pool->lock);
    entry->next = pool->free;
    pool->free = entry;
    pthread_mutex_unlock(&pool->lock);
    error_keep(destroy, user, value); /* must come last, because the value may hold the last reference to the cache */
}

void entry_release_centrally(struct cache_entry *entry)
{
    /* acq_rel: all use of the entry comes before the end of its life */
    if (atomic_fetch_sub_explicit(&entry->central, 1, memory_order_acq_rel) == 1)
        end_life(entry);
}

uint64_t entry_last_used(const struct cache_entry *entry)
{
    uint64_t latest = 0;

    for (unsigned stripe = 0; stripe < STRIPE_COUNT; ++stripe) {
        struct cache_cell *cell = entry_cell(entry, stripe);
        /* relaxed: missing a concurrent hit is no worse than if the hit came slightly later */
        const uint64_t stamp = cell != NULL ? atomic_load_explicit(&cell->last_used, memory_order_relaxed) : 0;
        latest = stamp > latest ? stamp : latest;
    }
    return latest;
}

void *cache_entry_value(const struct cache_entry *entry)
{
    return entry->value;
}

void cache_entry_retain(struct cache_entry *entry)
{
    entry_retain(entry);
}

void cache_entry_release(struct cache_entry *entry)
{
    entry_release(entry);
}
