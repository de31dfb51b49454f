/*
 * tier.c - makes and admits the requests of a remote tier, learns from their results, and emits events; see tier.h.
 */
#include "remote/tier/tier.h"

#include <stddef.h>
#include <stdio.h>

#include "remote/base/clock.h"

#define REASON_CAPACITY 512u

void tier_count(struct tier *tier, uint64_t *count, uint64_t by)
{
    tier_lock(tier);
    *count += by;
    tier_unlock(tier);
}

static bool ends_with_tier(const struct request *request)
{
    const struct tier *tier = request->owner;
    return atomic_load_explicit(&tier->is_ending, memory_order_relaxed);
}

static bool ends_with_pause(const struct request *request)
{
    const struct tier *tier = request->owner;
    return atomic_load_explicit(&tier->trips, memory_order_relaxed) != request->trips_before || ends_with_tier(request);
}

void tier_end_with_pause(struct request *request)
{
    request->is_ended = ends_with_pause;
}

enum tier_verdict tier_allow(struct tier *tier, struct request *request, uint64_t now_ns)
{
    tier_lock(tier);
    const bool is_closed = tier->breakers[TIER_LOADS].state == BREAKER_CLOSED;
    const uint64_t allowance_ns = is_closed ? budget_allowance(&tier->budget, now_ns) : 0;
    request->trips_before = atomic_load_explicit(&tier->trips, memory_order_relaxed);
    tier_unlock(tier);
    if (!is_closed)
        return TIER_IS_PAUSED;
    request->deadline_ns = allowance_ns < CLOCK_NEVER - now_ns ? now_ns + allowance_ns : CLOCK_NEVER;
    return allowance_ns != 0 ? TIER_PASS : TIER_NO_TIME;
}

/* The tier that this thread asks, and its requests there that are under way. exit() does not wait for these: a signal
 * handler may have interrupted them to call it. */
static _Thread_local const struct tier *own_tier;
static _Thread_local unsigned own_count;

enum tier_verdict tier_admit(struct tier *tier, struct request *request, uint64_t now_ns)
{
    /* Callers that are refused are not counted, because exit() waits until the count is zero. */
    if (atomic_load(&tier->is_in_exit))
        return TIER_IS_IN_EXIT;
    own_tier = tier;
    ++own_count;
    (void)atomic_fetch_add(&tier->asking_count, 1); /* exit() first sets is_in_exit, then reads asking_count */
    const enum tier_verdict verdict =
        atomic_load(&tier->is_in_exit) ? TIER_IS_IN_EXIT : tier_allow(tier, request, now_ns);
    if (verdict != TIER_PASS)
        tier_leave(tier, 1);
    return verdict;
}

void tier_leave(struct tier *tier, unsigned request_count)
{
    (void)atomic_fetch_sub(&tier->asking_count, request_count);
    own_count -= request_count;
}

bool tier_is_asked_by_others(const struct tier *tier)
{
    return atomic_load(&tier->asking_count) > (own_tier == tier ? own_count : 0);
}

struct request tier_make_request(struct tier *tier)
{
    return (struct request){
        .deadline_ns = CLOCK_NEVER,
        .connect_limit_ns = tier->connect_limit_ns,
        .stall_limit_ns = tier->stall_limit_ns,
        .is_ended = ends_with_tier,
        .owner = tier,
    };
}

void tier_tell(const struct tier *tier, ingot_status_t status, size_t bytes, const char *reason)
{
    if (tier->on_event == NULL)
        return;
    const ingot_event_t event = {
        .struct_size = sizeof(event),
        .kind = INGOT_EVENT_STORAGE_DEGRADED,
        .status = status,
        .bytes = bytes,
        .group = "",
        .name = "",
        .reason = reason,
        .session = "",
    };
    tier->on_event(&event, tier->on_event_user);
}

/* Reports that the tier stops loading from the server, or uploading to it; without a reason, that it goes on. */
static void tell_pause(const struct tier *tier, enum tier_side side, const char *reason)
{
    static const char *const resumed[] = {"the remote tier's server answers again, so the tier asks it",
                                          "the remote tier's server takes uploads again"};
    static const char *const paused[] = {"the remote tier's server is not asked until it answers a probe",
                                         "uploads to the remote tier wait, and are tried again later"};
    char text[REASON_CAPACITY];
    if (reason == NULL) {
        tier_tell(tier, INGOT_SUCCESS, 0, resumed[side]);
        return;
    }
    (void)snprintf(text, sizeof(text), "%s: %s", paused[side], reason);
    tier_tell(tier, INGOT_IO_ERROR, 0, text);
}

void tier_lose(struct tier *tier, uint64_t began_ns, uint64_t now_ns)
{
    tier_lock(tier);
    budget_lose(&tier->budget, began_ns, now_ns);
    tier_unlock(tier);
}

bool tier_note(struct tier *tier, enum tier_side side, enum breaker_finding finding, uint64_t now_ns,
               const char *reason)
{
    tier_lock(tier);
    const bool is_open = breaker_note(&tier->breakers[side], finding, now_ns);
    if (is_open && side == TIER_LOADS)
        (void)atomic_fetch_add_explicit(&tier->trips, 1, memory_order_relaxed);
    tier_unlock(tier);
    if (is_open)
        tell_pause(tier, side, reason);
    return is_open;
}

bool tier_is_closed(struct tier *tier, enum tier_side side)
{
    tier_lock(tier);
    const bool is_closed = tier->breakers[side].state == BREAKER_CLOSED;
    tier_unlock(tier);
    return is_closed;
}

bool tier_begin_probe(struct tier *tier, enum tier_side side)
{
    tier_lock(tier);
    const bool is_due = breaker_begin_probe(&tier->breakers[side], clock_now_ns());
    tier_unlock(tier);
    return is_due;
}

void tier_end_probe(struct tier *tier, enum tier_side side, bool has_succeeded)
{
    struct breaker *uploads = &tier->breakers[TIER_UPLOADS];
    const uint64_t now_ns = clock_now_ns();
    tier_lock(tier);
    const bool is_closed = breaker_end_probe(&tier->breakers[side], has_succeeded, now_ns);
    if (is_closed && side == TIER_LOADS && uploads->state == BREAKER_OPEN)
        uploads->probe_at_ns = now_ns;
    tier_unlock(tier);
    if (is_closed)
        tell_pause(tier, side, NULL);
}

/* What the outcomes of requests mean: for the server's state, for the caller, and for the counts of failed loads. */
static const struct {
    enum breaker_finding finding;
    ingot_status_t status;
    size_t count; /* offset in ingot_remote_stats_t; 0: none */
} meanings[] = {
    [OUTCOME_DONE] = {BREAKER_WORKS, INGOT_SUCCESS, 0},
    [OUTCOME_MISSING] = {BREAKER_WORKS, INGOT_NOT_FOUND, 0},
    [OUTCOME_UNREACHABLE] = {BREAKER_FAILS, INGOT_IO_ERROR, offsetof(ingot_remote_stats_t, unreachable)},
    [OUTCOME_TIMED_OUT] = {BREAKER_FAILS, INGOT_IO_ERROR, offsetof(ingot_remote_stats_t, timed_out)},
    [OUTCOME_ENDED] = {BREAKER_DOUBTFUL, INGOT_IO_ERROR, offsetof(ingot_remote_stats_t, timed_out)},
    [OUTCOME_REFUSED] = {BREAKER_FAILS, INGOT_IO_ERROR, offsetof(ingot_remote_stats_t, refused)},
    [OUTCOME_BAD_ANSWER] = {BREAKER_DOUBTFUL, INGOT_IO_ERROR, offsetof(ingot_remote_stats_t, bad_answers)},
    [OUTCOME_TOO_LARGE] = {BREAKER_ODD, INGOT_NO_SPACE, offsetof(ingot_remote_stats_t, bad_answers)},
    [OUTCOME_NO_MEMORY] = {BREAKER_WORKS, INGOT_OUT_OF_MEMORY, 0},
};

enum breaker_finding tier_finding_of(enum outcome outcome)
{
    return meanings[outcome].finding;
}

ingot_status_t tier_status_of(enum outcome outcome)
{
    return meanings[outcome].status;
}

void tier_count_failure(struct tier *tier, enum outcome outcome)
{
    TIER_COUNT(tier, failures, 1);
    if (meanings[outcome].count != 0)
        tier_count(tier, (void *)((char *)&tier->counts + meanings[outcome].count), 1);
}
