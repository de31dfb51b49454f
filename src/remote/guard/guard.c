/*
 * guard.c - limits what a process loses to a server that fails; see guard.h.
 */
#include "remote/guard/guard.h"

#include "remote/base/clock.h"

#define REFILL_NS (UINT64_C(86400) * CLOCK_NS_PER_S)
#define QUARTER 4u
#define LEAST_ALLOWANCE_NS (50 * CLOCK_NS_PER_MS)
#define RESERVE 10u /* a tenth of the budget is for what a busy processor adds to waits */
#define MOST_DOUBTS 3u

/* ---- pauses ---- */

void pauses_init(struct pauses *pauses, uint64_t shortest_ns, uint64_t longest_ns, uint64_t seed)
{
    *pauses = (struct pauses){.shortest_ns = shortest_ns,
                              .longest_ns = longest_ns > shortest_ns ? longest_ns : shortest_ns,
                              .next_ns = shortest_ns,
                              .random = seed | 1};
}

/* Lengthens the pause at random by up to a quarter. */
void pauses_begin(struct pauses *pauses, uint64_t now_ns)
{
    pauses->random ^= pauses->random << 13; /* xorshift64 */
    pauses->random ^= pauses->random >> 7;
    pauses->random ^= pauses->random << 17;
    pauses->until_ns = now_ns + pauses->next_ns + pauses->random % (pauses->next_ns / 4 + 1);
    pauses->next_ns = pauses->next_ns > pauses->longest_ns / 2 ? pauses->longest_ns : pauses->next_ns * 2;
}

void pauses_end(struct pauses *pauses)
{
    pauses->until_ns = 0;
    pauses->next_ns = pauses->shortest_ns;
}

/* ---- the guard ---- */

void guard_init(struct guard *guard, uint64_t whole_ns, uint64_t now_ns)
{
    *guard = (struct guard){.whole_ns = whole_ns, .refilled_at_ns = now_ns};
}

static void refill_budget(struct guard *guard, uint64_t now_ns)
{
    const uint64_t elapsed_ns = now_ns > guard->refilled_at_ns ? now_ns - guard->refilled_at_ns : 0;
    const double refilled = (double)elapsed_ns / (double)REFILL_NS * (double)guard->whole_ns;
    if (refilled < (double)CLOCK_NS_PER_MS)
        return; /* leaves refilled_at_ns unchanged, so that short times add up */
    guard->refilled_at_ns = now_ns;
    guard->lost_ns = refilled < (double)guard->lost_ns ? guard->lost_ns - (uint64_t)refilled : 0;
}

uint64_t guard_allowance(struct guard *guard, uint64_t now_ns)
{
    if (guard->whole_ns == UINT64_MAX)
        return UINT64_MAX;
    refill_budget(guard, now_ns);
    const uint64_t usable_ns = guard->whole_ns - guard->whole_ns / RESERVE;
    const uint64_t left_ns = guard->lost_ns < usable_ns ? usable_ns - guard->lost_ns : 0;
    if (left_ns < LEAST_ALLOWANCE_NS)
        return 0;
    return left_ns / QUARTER < LEAST_ALLOWANCE_NS ? LEAST_ALLOWANCE_NS : left_ns / QUARTER;
}

void guard_lose(struct guard *guard, uint64_t from_ns, uint64_t until_ns)
{
    const uint64_t begin_ns = from_ns > guard->counted_until_ns ? from_ns : guard->counted_until_ns;
    if (until_ns <= begin_ns)
        return;
    guard->lost_ns += until_ns - begin_ns;
    guard->total_ns += until_ns - begin_ns;
    guard->counted_until_ns = until_ns;
}

bool guard_note(struct guard *guard, enum guard_finding finding, uint64_t now_ns)
{
    if (guard_is_paused(guard))
        return false; /* the request began before the pause */
    if (finding == GUARD_WORKS) {
        guard->doubts = 0;
        pauses_end(&guard->pauses);
        return false;
    }
    if (finding == GUARD_DOUBTFUL && ++guard->doubts < MOST_DOUBTS)
        return false;
    guard->doubts = 0;
    ++guard->pause_count;
    pauses_begin(&guard->pauses, now_ns);
    return true;
}

void guard_end_pause(struct guard *guard, bool works, uint64_t now_ns)
{
    if (works)
        guard->pauses.until_ns = 0;
    else
        pauses_begin(&guard->pauses, now_ns);
}
