/*
 * striped_count.c - assigns stripes to threads, spreads a reference count over cells and gathers it; see
 * striped_count.h.
 */
#include "core/base/striped_count.h"

_Thread_local unsigned stripe_plus_one __attribute__((tls_model("initial-exec")));

unsigned stripe_assign(void)
{
    static atomic_uint next;

    /* relaxed: threads need only different numbers; nothing else is published */
    const unsigned number = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed) % STRIPE_COUNT;
    stripe_plus_one = number + 1;
    return number;
}

enum { CELLS_SIZE = STRIPE_COUNT * sizeof(struct striped_cell) };

void striped_count_init(struct striped_count *count)
{
    atomic_init(&count->holders, 1);
    atomic_init(&count->central, 1);
    atomic_init(&count->cells, NULL);
}

/* Gives the count a cell per stripe, so that threads that retain the same object do not share a cache line. */
static bool add_cells(struct striped_count *count, const ingot_allocator_t *allocator)
{
    struct striped_cell *none = NULL;
    struct striped_cell *cells = memory_allocate_aligned(allocator, CELLS_SIZE, STRIPE_LINE);

    if (cells == NULL)
        return false;
    for (size_t i = 0; i < STRIPE_COUNT; ++i)
        atomic_init(&cells[i].count, CELL_OPEN);
    /* Added before the cells are published. Otherwise another thread could close them first and then drop references in
     * `central` that were counted in cells. relaxed: the release below orders it. */
    atomic_fetch_add_explicit(&count->central, CENTRAL_BIG, memory_order_relaxed);
    /* release: pairs with striped_count_change. If two threads spread the count at once, the first one's cells are
     * kept. */
    if (!atomic_compare_exchange_strong_explicit(&count->cells, &none, cells, memory_order_release,
                                                 memory_order_relaxed)) {
        atomic_fetch_sub_explicit(&count->central, CENTRAL_BIG, memory_order_relaxed);
        memory_free(allocator, cells, CELLS_SIZE);
    }
    return true;
}

bool striped_count_spread(struct striped_count *count, const ingot_allocator_t *allocator)
{
    /* Becomes a holder, unless the count has been gathered. While it is a holder, nobody gathers the count. */
    uint64_t holders = atomic_load_explicit(&count->holders, memory_order_relaxed);
    do {
        if ((holders & HOLDERS_GATHERED) != 0)
            return true;
    } while (!atomic_compare_exchange_weak_explicit(&count->holders, &holders, holders + 1, memory_order_relaxed,
                                                    memory_order_relaxed));
    const bool is_spread = add_cells(count, allocator);
    if (striped_count_release(count))
        (void)striped_count_drop(count); /* never the last reference, because the caller has one */
    return is_spread;
}

void striped_count_hold(struct striped_count *count)
{
    const uint64_t holders = atomic_fetch_add_explicit(&count->holders, 1, memory_order_relaxed);
    if ((holders & ~HOLDERS_GATHERED) == 0)
        striped_count_add(count); /* the first holder after a time without any */
}

bool striped_count_release(struct striped_count *count)
{
    uint64_t holders = atomic_load_explicit(&count->holders, memory_order_relaxed);
    uint64_t left;
    do {
        left = holders - 1;
        if ((left & ~HOLDERS_GATHERED) == 0)
            left = HOLDERS_GATHERED;
        /* acq_rel: all use by holders happens before the count is gathered */
    } while (!atomic_compare_exchange_weak_explicit(&count->holders, &holders, left, memory_order_acq_rel,
                                                    memory_order_relaxed));
    if (left != HOLDERS_GATHERED)
        return false;
    struct striped_cell *cells = atomic_load_explicit(&count->cells, memory_order_acquire);
    if ((holders & HOLDERS_GATHERED) == 0 && cells != NULL) {
        int64_t references = -CENTRAL_BIG;
        for (size_t i = 0; i < STRIPE_COUNT; ++i)
            references += cell_references(cell_close(&cells[i].count));
        /* acq_rel: passes everything that closing the cells acquired to the thread that drops the last reference */
        atomic_fetch_add_explicit(&count->central, references, memory_order_acq_rel);
    }
    return true;
}

void striped_count_fini(struct striped_count *count, const ingot_allocator_t *allocator)
{
    memory_free(allocator, atomic_load_explicit(&count->cells, memory_order_relaxed), CELLS_SIZE);
}
