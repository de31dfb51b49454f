/*
 * striped_count.h - implements reference counts that many threads change without waiting for each other.
 *
 * Each thread belongs to one of a few stripes, assigned in turn when threads first use a count. A count has one cell
 * per stripe. A thread changes only its own stripe's cell, by an atomic addition. Threads that share a stripe are
 * slower but correct. Only the sum of all cells is meaningful, because one thread may drop a reference that another
 * took.
 *
 * A cell is open or closed. A change of an open cell takes effect. A change of a closed cell has no effect, because
 * opening the cell overwrites its content. In that case, the thread changes a count that all threads share. So a thread
 * changes the cell first and checks afterwards whether it was open, which takes only one atomic instruction.
 *
 * An object has holders, who use it by a handle, and other references, such as those of descriptors. All holders
 * together have one reference, and there is one holder at the beginning. While there is a holder, other references are
 * counted in the cells of the stripes of the threads that take or drop them. When the last holder releases the object,
 * the count is gathered: the cells are closed and their sum is added to `central`, where all references are counted
 * from then on. Only then is the number of references known and can become zero. If an object has no cells, its
 * references are counted in `central` alone.
 *
 * Whoever has a reference may become a holder, even after the last holder has released the object.
 */
#ifndef INGOT_CORE_BASE_STRIPED_COUNT_H
#define INGOT_CORE_BASE_STRIPED_COUNT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "util/memory.h"

enum { STRIPE_COUNT = 16, STRIPE_LINE = 128 }; /* processors fetch pairs of 64-byte cache lines */

typedef _Atomic uint64_t stripe_cell;

/* The lower 50 bits of a cell hold the open bit and the references, the upper 14 count hits. The references
 * begin in the middle of their 49 bits (CELL_CLOSED), so they can grow or shrink by 2^48. That would take months, even
 * in a cell in which references are only taken or only dropped, and in a closed one, which threads also change. */
#define CELL_HIT (UINT64_C(1) << 50)
#define CELL_OPEN_BIT (UINT64_C(1) << 49)
#define CELL_CLOSED (UINT64_C(1) << 48) /* halfway through the values without CELL_OPEN_BIT */
#define CELL_OPEN (CELL_CLOSED | CELL_OPEN_BIT)
/* When a cell has this many hits, they are moved out of it. The other half of the range is for hits that threads add
 * meanwhile. */
#define CELL_HITS_FULL (CELL_HIT << 13)

/* Added to the count that all threads share while cells are open, so that this count cannot become 0 before the cells'
 * sum is added to it. */
#define CENTRAL_BIG (INT64_C(1) << 40)

/* The calling thread's stripe plus 1, or 0 if none is assigned yet. Initial-exec, so that one instruction reads it,
 * even in a shared library. */
extern _Thread_local unsigned stripe_plus_one __attribute__((tls_model("initial-exec")));

unsigned stripe_assign(void);

static inline unsigned stripe_number(void)
{
    const unsigned number = stripe_plus_one;
    return number != 0 ? number - 1 : stripe_assign();
}

static inline bool cell_is_open(uint64_t content)
{
    return (content & CELL_OPEN_BIT) != 0;
}

static inline int64_t cell_references(uint64_t content)
{
    return (int64_t)(content % CELL_HIT) - (int64_t)CELL_OPEN;
}

static inline uint64_t cell_hits(uint64_t content)
{
    return content / CELL_HIT;
}

/* Changes the cell and returns its previous content. */
static inline uint64_t cell_add(stripe_cell *cell, uint64_t change)
{
    /* acquire: the thread sees everything that was written before the cell was opened. release: all use of the
     * object comes before the reference is dropped; pairs with cell_close. */
    return atomic_fetch_add_explicit(cell, change, memory_order_acq_rel);
}

static inline void cell_open(stripe_cell *cell)
{
    atomic_store_explicit(cell, CELL_OPEN, memory_order_release); /* pairs with cell_add */
}

/* Closes the cell. Returns its content, which the caller adds to the count that all threads share. */
static inline uint64_t cell_close(stripe_cell *cell)
{
    return atomic_exchange_explicit(cell, CELL_CLOSED, memory_order_acq_rel);
}

/* ---- counts ---- */

struct striped_cell {
    _Alignas(STRIPE_LINE) stripe_cell count;
};

struct striped_count {
    _Atomic uint64_t holders; /* their number, and HOLDERS_GATHERED */
    _Atomic int64_t central;
    _Atomic(struct striped_cell *) cells; /* an array of STRIPE_COUNT cells, or NULL; release/acquire */
};

/* Set in `holders` forever when the last holder releases the object for the first time. */
#define HOLDERS_GATHERED (UINT64_C(1) << 63)

/* Initializes the count with one holder, the reference of all holders, and no cells. */
void striped_count_init(struct striped_count *count);
/* Adds cells, unless the count has been gathered. The caller has a reference. Returns false if out of memory. */
bool striped_count_spread(struct striped_count *count, const ingot_allocator_t *allocator);
/* Adds a holder. The caller has a reference, or is a holder. */
void striped_count_hold(struct striped_count *count);
/* Removes a holder. Returns true if it was the last one, so that the caller must drop the holders' reference. */
bool striped_count_release(struct striped_count *count);
/* Frees the cells after the last reference was dropped. */
void striped_count_fini(struct striped_count *count, const ingot_allocator_t *allocator);

/* Adds `change` to the calling thread's cell. Returns false if there is no cell or it is closed. */
static inline bool striped_count_change(struct striped_count *count, uint64_t change)
{
    struct striped_cell *cells = atomic_load_explicit(&count->cells, memory_order_acquire);
    return cells != NULL && cell_is_open(cell_add(&cells[stripe_number()].count, change));
}

/* Adds a reference. The caller must already hold one. */
static inline void striped_count_add(struct striped_count *count)
{
    if (!striped_count_change(count, 1))
        atomic_fetch_add_explicit(&count->central, 1, memory_order_relaxed);
}

/* Drops a reference. Returns true if it was the last one. */
static inline bool striped_count_drop(struct striped_count *count)
{
    /* acq_rel: all use of the object comes before it is freed */
    return !striped_count_change(count, (uint64_t)-1) &&
           atomic_fetch_sub_explicit(&count->central, 1, memory_order_acq_rel) == 1;
}

#endif
