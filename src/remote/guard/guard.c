/*
 * guard.c - decides which requests may be made, for how long, and what their results mean; see guard.h.
 */
#include "remote/guard/guard.h"

#include "remote/base/clock.h"

#define BYTES_PER_SECOND UINT64_C(16777216) /* a slower transfer counts as lost time */

bool guard_init(struct guard *guard, const struct guard_settings *settings, uint64_t now_ns)
{
    if (pthread_mutex_init(&guard->lock, NULL) != 0)
        return false;
    for (int side = 0; side < GUARD_SIDES; ++side)
        breaker_init(&guard->breakers[side], settings->shortest_pause_ns, settings->longest_pause_ns,
                     settings->seed + (uint64_t)side * 2);
    budget_init(&guard->budget, settings->lost_time_ns, now_ns);
    guard->slow_ns = settings->slow_ns;
    atomic_init(&guard->trips, 0);
    return true;
}

void guard_fini(struct guard *guard)
{
    (void)pthread_mutex_destroy(&guard->lock);
}

enum guard_verdict guard_admit(struct guard *guard, struct request *request, uint64_t now_ns)
{
    (void)pthread_mutex_lock(&guard->lock);
    const bool is_closed = guard->breakers[GUARD_LOADS].state == BREAKER_CLOSED;
    const uint64_t allowance_ns = is_closed ? budget_allowance(&guard->budget, now_ns) : 0;
    request->trips_before = guard_trips(guard);
    (void)pthread_mutex_unlock(&guard->lock);
    if (!is_closed)
        return GUARD_IS_OPEN;
    if (allowance_ns == 0)
        return GUARD_NO_TIME;
    request->deadline_ns = allowance_ns < CLOCK_NEVER - now_ns ? now_ns + allowance_ns : CLOCK_NEVER;
    return GUARD_PASS;
}

uint64_t guard_upload_time_ns(struct guard *guard, uint64_t now_ns)
{
    (void)pthread_mutex_lock(&guard->lock);
    const bool is_open = guard->breakers[GUARD_UPLOADS].state == BREAKER_OPEN;
    const uint64_t allowance_ns = is_open ? 0 : budget_allowance(&guard->budget, now_ns);
    (void)pthread_mutex_unlock(&guard->lock);
    return allowance_ns;
}

uint64_t guard_fair_hit_ns(const struct guard *guard, uint64_t byte_count)
{
    return guard->slow_ns + byte_count * CLOCK_NS_PER_S / BYTES_PER_SECOND;
}

uint64_t guard_fair_miss_ns(const struct guard *guard)
{
    return guard->slow_ns * 2 / 5;
}

void guard_lose(struct guard *guard, uint64_t began_ns, uint64_t now_ns)
{
    (void)pthread_mutex_lock(&guard->lock);
    budget_lose(&guard->budget, began_ns, now_ns);
    (void)pthread_mutex_unlock(&guard->lock);
}

bool guard_note(struct guard *guard, enum guard_side side, enum breaker_finding finding, uint64_t now_ns)
{
    (void)pthread_mutex_lock(&guard->lock);
    const bool is_open = breaker_note(&guard->breakers[side], finding, now_ns);
    if (is_open && side == GUARD_LOADS)
        atomic_fetch_add_explicit(&guard->trips, 1, memory_order_relaxed);
    (void)pthread_mutex_unlock(&guard->lock);
    return is_open;
}

bool guard_settle(struct guard *guard, enum breaker_finding finding, uint64_t fair_ns, uint64_t began_ns,
                  uint64_t now_ns)
{
    if (now_ns - began_ns > fair_ns)
        guard_lose(guard, began_ns, now_ns);
    return guard_note(guard, GUARD_LOADS, finding, now_ns);
}

bool guard_begin_probe(struct guard *guard, enum guard_side side, uint64_t now_ns)
{
    (void)pthread_mutex_lock(&guard->lock);
    const bool is_due = breaker_begin_probe(&guard->breakers[side], now_ns);
    (void)pthread_mutex_unlock(&guard->lock);
    return is_due;
}

bool guard_end_probe(struct guard *guard, enum guard_side side, bool has_succeeded, uint64_t now_ns)
{
    (void)pthread_mutex_lock(&guard->lock);
    const bool is_closed = breaker_end_probe(&guard->breakers[side], has_succeeded, now_ns);
    struct breaker *uploads = &guard->breakers[GUARD_UPLOADS];
    if (is_closed && side == GUARD_LOADS && uploads->state == BREAKER_OPEN)
        uploads->probe_at_ns = now_ns;
    (void)pthread_mutex_unlock(&guard->lock);
    return is_closed;
}

struct guard_state guard_get_state(struct guard *guard)
{
    struct guard_state state;
    (void)pthread_mutex_lock(&guard->lock);
    for (int side = 0; side < GUARD_SIDES; ++side) {
        const struct breaker *breaker = &guard->breakers[side];
        state.is_closed[side] = breaker->state == BREAKER_CLOSED;
        state.probe_at_ns[side] = breaker->state == BREAKER_OPEN ? breaker->probe_at_ns : CLOCK_NEVER;
    }
    state.lost_ns = guard->budget.total_ns;
    state.trips = guard_trips(guard);
    (void)pthread_mutex_unlock(&guard->lock);
    return state;
}
