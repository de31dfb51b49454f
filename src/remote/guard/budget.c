/*
 * budget.c - limits how much time a process may lose to a server that fails; see budget.h.
 */
#include "remote/guard/budget.h"

#include "remote/base/clock.h"

#define REFILL_NS (UINT64_C(86400) * CLOCK_NS_PER_S)
#define PART 4u
#define LEAST_ALLOWANCE_NS (50 * CLOCK_NS_PER_MS) /* so 200 ms are left for waits that a busy processor prolongs */

void budget_init(struct budget *budget, uint64_t whole_ns, uint64_t now_ns)
{
    *budget = (struct budget){.whole_ns = whole_ns, .refilled_at_ns = now_ns};
}

static void refill_budget(struct budget *budget, uint64_t now_ns)
{
    const uint64_t elapsed_ns = now_ns > budget->refilled_at_ns ? now_ns - budget->refilled_at_ns : 0;
    const double share = (double)elapsed_ns / (double)REFILL_NS;
    const double refilled = share * (double)budget->whole_ns;
    if (refilled < (double)CLOCK_NS_PER_MS)
        return; /* leaves refilled_at_ns unchanged, so that short times add up */
    budget->refilled_at_ns = now_ns;
    budget->lost_ns = refilled < (double)budget->lost_ns ? budget->lost_ns - (uint64_t)refilled : 0;
}

uint64_t budget_allowance(struct budget *budget, uint64_t now_ns)
{
    if (budget->whole_ns == UINT64_MAX)
        return UINT64_MAX;
    refill_budget(budget, now_ns);
    const uint64_t left_ns = budget->lost_ns < budget->whole_ns ? budget->whole_ns - budget->lost_ns : 0;
    return left_ns / PART < LEAST_ALLOWANCE_NS ? 0 : left_ns / PART;
}

void budget_lose(struct budget *budget, uint64_t from_ns, uint64_t until_ns)
{
    const uint64_t begin_ns = from_ns > budget->counted_until_ns ? from_ns : budget->counted_until_ns;
    if (until_ns <= begin_ns)
        return;
    budget->lost_ns += until_ns - begin_ns;
    budget->total_ns += until_ns - begin_ns;
    budget->counted_until_ns = until_ns;
}
