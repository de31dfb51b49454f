/*
 * striped_count.h - implements the reference count of an object that many threads retain and release frequently.
 *
 * An object has holders, who use it by a handle, and other references, such as those of descriptors. All holders
 * together have one reference, and there is one holder at the beginning. While there is a holder, other references are
 * counted in the cells of the stripes of the threads that take or drop them (stripe.h). When the last holder releases
 * the object, the count is gathered: the cells are closed and their sum is added to `central`, where all references are
 * counted from then on. Only then is the number of references known and can become zero. If an object has no cells, its
 * references are counted in `central` alone.
 *
 * Whoever has a reference may become a holder, even after the last holder has released the object.
 */
#ifndef INGOT_CORE_BASE_STRIPED_COUNT_H
#define INGOT_CORE_BASE_STRIPED_COUNT_H

#include "core/base/stripe.h"
#include "util/memory.h"

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
