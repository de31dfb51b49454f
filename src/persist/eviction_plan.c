/*
 * eviction_plan.c - see eviction_plan.h.
 */
#include "persist/eviction_plan.h"

#include "persist/directory.h"
#include "persist/files.h"
#include "persist/memory.h"

/* After so long another order may be right, since uses are noted once a minute. */
#define LIFE_NS UINT64_C(60000000000)

static void free_plan(struct directory *directory, struct eviction_plan *plan)
{
    if (plan == NULL)
        return;
    survey_fini(&plan->survey);
    memory_free(&directory->allocator, plan, sizeof(*plan));
}

bool eviction_plan_is_there(const struct directory *directory)
{
    /* relaxed: eviction_plan_take decides. The cast: C11 reads no atomic through a pointer to const. */
    return atomic_load_explicit(&((struct directory *)directory)->plan, memory_order_relaxed) != NULL;
}

bool eviction_plan_take(struct directory *directory, struct eviction_plan *plan)
{
    /* acquire: pairs with the release in eviction_plan_leave, for what is in it */
    struct eviction_plan *left = atomic_exchange_explicit(&directory->plan, NULL, memory_order_acquire);
    const bool is_fresh = left != NULL && files_steady_clock_ns() - left->made_ns < LIFE_NS;
    if (is_fresh) {
        *plan = *left;
        left->survey = (struct survey){.allocator = directory->allocator};
    }
    free_plan(directory, left);
    return is_fresh;
}

void eviction_plan_leave(struct directory *directory, struct eviction_plan *plan)
{
    struct eviction_plan *left = memory_allocate(&directory->allocator, sizeof(*left));
    if (left == NULL) {
        survey_fini(&plan->survey);
        return;
    }
    *left = *plan;
    free_plan(directory, atomic_exchange_explicit(&directory->plan, left, memory_order_acq_rel));
}

void eviction_plan_discard(struct directory *directory)
{
    free_plan(directory, atomic_exchange_explicit(&directory->plan, NULL, memory_order_acquire));
}
