/*
 * cache_entry.h - entries of the in-memory cache: their memory and their reference counts.
 *
 * A reference to a cached entry is counted in a slot of the calling thread's stripe, so that taking and dropping one
 * writes no memory that other threads write. An entry that is not in the cache counts all references in `central`. The
 * sum of all counts is the number of references; it can be known, and be zero, only after the entry has left the cache.
 *
 * Invariants (doc/threading.md has the proof):
 * - a shared stripe's slot is DEAD if and only if entry_collect took its count and entry_publish has not revived it
 *   since; an owned stripe's slot is never DEAD;
 *  - a slot whose bit was never set in mask holds exactly SLOT_BIAS; no bit is set while ENTRY_KILLED is. Bits of
 *    shared stripes are never cleared, those of owned stripes by entry_kill, so such a bit says that the entry is in
 *    the cache;
 * - ENTRY_KILLED is clear from the end of entry_publish to the beginning of entry_kill, once per life;
 * - serial is written before the slots of a life are revived. If the entry leaves one of several groups, it gets a new
 *   unique serial, so that descriptors that remember it look again.
 * Locks: pool->lock guards the free list and the list of chunks; nothing is called under it.
 */
#ifndef INGOT_CORE_MEMORY_CACHE_CACHE_ENTRY_H
#define INGOT_CORE_MEMORY_CACHE_CACHE_ENTRY_H

#include <stdatomic.h>

#include "core/base/os.h"
#include "core/memory_cache/cache_types.h"
#include "core/memory_cache/stripe.h"

enum { ENTRIES_PER_CHUNK = 16, CACHE_LINE = 64 };

#define SLOT_DEAD UINT64_C(0)
/* Not reached even if one thread only takes references and another only drops them for months. */
#define SLOT_BIAS (UINT64_C(1) << 49)
/* Hits are counted in the upper bits of the word that holds the references, which changes anyway. */
#define SLOT_HIT (UINT64_C(1) << 50)
#define SLOT_HITS_FULL (UINT64_C(1) << 63) /* leaves as much room again, for all threads of a stripe */
#define ENTRY_KILLED (UINT64_C(1) << 63)
#define CENTRAL_BIG (INT64_C(1) << 40)

struct cache_slot {
    _Atomic uint64_t count;     /* SLOT_DEAD, or SLOT_BIAS + taken - dropped here + SLOT_HIT per hit */
    _Atomic uint64_t last_used; /* stamp, see cache_recency.h */
};

/* An entry's membership in a group; under cache->lock. */
struct cache_member {
    struct cache_entry *entry;
    struct cache_group *group;     /* NULL: none */
    struct cache_member *previous; /* in the group */
    struct cache_member *next;
    struct cache_member *more; /* the entry's other groups */
};

struct cache_entry {
    /* Read by hits. Written when a life begins or ends, and at the first use by each stripe. */
    _Alignas(CACHE_LINE) _Atomic uint64_t mask; /* bit i: stripe i has used its slot; ENTRY_KILLED */
    _Atomic uint64_t serial;                    /* of the life, unique in the cache; 0: never published */
    struct cache_slot *slots;                   /* of stripe 0; a chunk's slots of one stripe are adjacent */
    void *value;
    struct cache_pool *pool;
    _Atomic uint64_t hash_low;
    _Atomic uint64_t hash_high;
    _Atomic uint64_t group_hash; /* of member.group's name, 0: none; relaxed, only saves taking the lock */

    _Alignas(CACHE_LINE) _Atomic int64_t central;
    /* all below: under cache->lock, then owned by the thread that evicts */
    uint64_t stamp; /* the stamp seen when the entry was last checked */
    struct cache_entry *older;
    struct cache_entry *newer; /* also links free entries (under pool->lock) and victims */
    size_t heap_index;
    size_t bytes;
    enum eviction_reason reason;
    uint64_t stripes; /* that had used their slots at entry_kill */

    uint64_t hits;              /* that were counted in those slots at entry_kill */
    struct cache_member member; /* of its first group; of others in member.more */
    atomic_bool is_ungrouped;   /* also requested without a group: outlives its groups; relaxed */
};

struct cache_chunk {
    struct cache_slot slots[STRIPE_COUNT][ENTRIES_PER_CHUNK];
    struct cache_entry entries[ENTRIES_PER_CHUNK];
    struct cache_chunk *next;
};

/* The cost of an entry beside its value: its share of a chunk, of the table and of the eviction order. */
enum {
    CACHE_ENTRY_TABLE_BYTES = 8 * sizeof(void *), /* four places of two words at most */
    CACHE_ENTRY_ORDER_BYTES = 4 * sizeof(void *), /* two items likewise */
    CACHE_ENTRY_OVERHEAD =
        sizeof(struct cache_chunk) / ENTRIES_PER_CHUNK + CACHE_ENTRY_TABLE_BYTES + CACHE_ENTRY_ORDER_BYTES
};

struct cache_pool {
    ingot_allocator_t allocator;
    struct memory_cache_ops ops;
    void *user;
    os_mutex lock;
    struct cache_entry *free;   /* under lock */
    struct cache_chunk *chunks; /* under lock */
};

ingot_status_t cache_pool_init(struct cache_pool *pool, const ingot_allocator_t *allocator,
                               const struct memory_cache_ops *ops, void *user);
void cache_pool_fini(struct cache_pool *pool);
/* Makes an entry with one reference that is not in the cache; NULL when out of memory. */
struct cache_entry *cache_pool_take(struct cache_pool *pool, void *value);

/* Lets threads that find the entry retain it, and adds the cache's own reference. Hash and value are set before. */
void entry_publish(struct cache_entry *entry, uint64_t serial);
/*
 * Three steps of one thread undo entry_publish. First entry_kill, under cache->lock: later look-ups find nothing; it
 * returns the set of stripes that have counted references. Then stripes_settle for that set. Then entry_collect: the
 * cache's reference becomes the caller's; it returns the hits counted since entry_kill.
 */
uint64_t entry_kill(struct cache_entry *entry);
uint64_t entry_collect(struct cache_entry *entry);
/* Returns the hits that are counted in a cached entry's slots; under cache->lock. */
uint64_t entry_hits(const struct cache_entry *entry);
/* Takes the hits out of the slot and returns them. The caller holds the entry and is a thread of the stripe. */
uint64_t entry_take_hits(struct cache_entry *entry, unsigned stripe);
/* Sets the bit, for the stripe's first use of its slot. False: the entry is not in the cache. */
bool entry_join(struct cache_entry *entry, uint64_t bit);
/* Handles the cases that cache_release_fast cannot. */
void cache_entry_release_slowly(struct cache_entry *entry);
/* Drops a reference that is counted in no slot. */
void entry_release_centrally(struct cache_entry *entry);
/* Returns the latest stamp in the entry's slots. */
uint64_t entry_last_used(const struct cache_entry *entry);

static inline struct cache_slot *entry_slot(const struct cache_entry *entry, unsigned stripe)
{
    return entry->slots + (size_t)stripe * ENTRIES_PER_CHUNK;
}

/* True if the stripe's slot may be used; sets its bit if necessary. False: the entry is not in the cache. */
static inline bool entry_joined(struct cache_entry *entry, unsigned stripe)
{
    const uint64_t bit = UINT64_C(1) << stripe;
    /* acquire: pairs with entry_publish's clearing of ENTRY_KILLED */
    const uint64_t mask = atomic_load_explicit(&entry->mask, memory_order_acquire);

    return (mask & (bit | ENTRY_KILLED)) == bit || ((mask & ENTRY_KILLED) == 0 && entry_join(entry, bit));
}

/* The next two add `change` to the count and return the new one; SLOT_DEAD: nothing was changed. */
static inline uint64_t entry_try_add_shared(struct cache_entry *entry, unsigned stripe, uint64_t change)
{
    if (!entry_joined(entry, stripe))
        return SLOT_DEAD;
    struct cache_slot *slot = entry_slot(entry, stripe);
    uint64_t count = atomic_load_explicit(&slot->count, memory_order_relaxed);
    do {
        if (count == SLOT_DEAD)
            return SLOT_DEAD;
        /* acquire: pairs with the revival in entry_publish, so that the serial that is read next is of this life.
         * release: all use of the value comes before its reference is dropped; pairs with the exchange in
         * entry_collect */
    } while (!atomic_compare_exchange_weak_explicit(&slot->count, &count, count + change, memory_order_acq_rel,
                                                    memory_order_relaxed));
    return count + change;
}

static inline uint64_t entry_try_add_owned(struct cache_entry *entry, unsigned stripe, uint64_t change)
{
    uint64_t count = SLOT_DEAD;

    stripe_enter(stripe_of_own);
    if (entry_joined(entry, stripe)) {
        struct cache_slot *slot = entry_slot(entry, stripe);
        /* relaxed: the load of mask acquires, and stripe_leave releases */
        count = atomic_load_explicit(&slot->count, memory_order_relaxed) + change;
        atomic_store_explicit(&slot->count, count, memory_order_relaxed);
    }
    stripe_leave(stripe_of_own);
    return count;
}

static inline uint64_t entry_try_add(struct cache_entry *entry, unsigned stripe, uint64_t change)
{
    return stripe_is_owned(stripe) ? entry_try_add_owned(entry, stripe, change)
                                   : entry_try_add_shared(entry, stripe, change);
}

/* Works for any entry in any state. True: the caller holds it, in its current life. */
static inline bool entry_try_retain(struct cache_entry *entry, unsigned stripe)
{
    return entry_try_add(entry, stripe, 1) != SLOT_DEAD;
}

/* True if an entry that the caller found in the cache has left it; under cache->lock. */
static inline bool entry_is_killed(const struct cache_entry *entry)
{
    /* relaxed: changes under the lock only */
    return (atomic_load_explicit(&entry->mask, memory_order_relaxed) & ENTRY_KILLED) != 0;
}

static inline void entry_retain(struct cache_entry *entry, unsigned stripe)
{
    if (!entry_try_retain(entry, stripe))
        atomic_fetch_add_explicit(&entry->central, 1, memory_order_relaxed); /* the caller's reference keeps it alive */
}

static inline void entry_release(struct cache_entry *entry, unsigned stripe)
{
    if (entry_try_add(entry, stripe, (uint64_t)-1) == SLOT_DEAD)
        entry_release_centrally(entry);
}

/* Does what cache_entry_release does, in any stripe. */
static inline void cache_release_fast(struct cache_entry *entry)
{
    struct owned_stripe *own = stripe_of_own;
    bool done = false;

    if (own != NULL) {
        const unsigned stripe = own->number;
        struct cache_slot *slot = entry_slot(entry, stripe);
        stripe_enter(own);
        /* relaxed, all: as in cache_recall_fast */
        done = (atomic_load_explicit(&entry->mask, memory_order_relaxed) >> stripe & 1) != 0;
        if (done)
            atomic_store_explicit(&slot->count, atomic_load_explicit(&slot->count, memory_order_relaxed) - 1,
                                  memory_order_relaxed);
        stripe_leave(own);
    }
    if (!done)
        cache_entry_release_slowly(entry);
}

#endif
