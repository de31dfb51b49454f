/*
 * striped_count.c - spreads a reference count over cells and gathers it; see striped_count.h.
 */
#include "core/base/striped_count.h"

enum { CELLS_SIZE = STRIPE_COUNT * sizeof(struct striped_cell) };

void striped_count_init(struct striped_count *count)
{
    atomic_init(&count->central, 1);
    atomic_init(&count->cells, NULL);
}

bool striped_count_spread(struct striped_count *count, const ingot_allocator_t *allocator)
{
    struct striped_cell *none = NULL;
    struct striped_cell *cells = alloc_aligned(allocator, CELLS_SIZE, STRIPE_LINE);

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
        alloc_free(allocator, cells, CELLS_SIZE);
    }
    return true;
}

void striped_count_gather(struct striped_count *count)
{
    struct striped_cell *cells = atomic_load_explicit(&count->cells, memory_order_acquire);
    int64_t references = -CENTRAL_BIG;

    if (cells == NULL)
        return;
    for (size_t i = 0; i < STRIPE_COUNT; ++i)
        references += cell_references(cell_close(&cells[i].count));
    /* acq_rel: passes everything that closing the cells acquired to the thread that drops the last reference */
    atomic_fetch_add_explicit(&count->central, references, memory_order_acq_rel);
}

void striped_count_fini(struct striped_count *count, const ingot_allocator_t *allocator)
{
    alloc_free(allocator, atomic_load_explicit(&count->cells, memory_order_relaxed), CELLS_SIZE);
}
