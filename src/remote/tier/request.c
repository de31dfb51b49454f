/*
 * request.c - admits the requests of a remote tier, learns from their results, and emits events; see tier.h.
 */
#include <ingot/backend.h>
#include <ingot/private/metrics.h>
#include <stdarg.h>
#include <stdio.h>

#include "remote/tier/tier.h"
#include "util/nanoseconds.h"

#define REASON_CAPACITY 512u

void tier_count(struct tier *tier, uint64_t *count, const char *result, uint64_t by)
{
    tier_lock(tier);
    *count += by;
    tier_unlock(tier);
    if (by != 0 && result != NULL)
        ingot_metrics_add(INGOT_METRIC_REMOTE_REQUESTS, tier->protocol, result, NULL, by);
}

static bool ends_with_tier(const struct request *request)
{
    return tier_is_ending(request->owner);
}

struct request tier_make_request(struct tier *tier)
{
    return (struct request){
        .began_ns = nanoseconds_now(),
        .deadline_ns = NS_NEVER,
        .connect_limit_ns = tier->connect_limit_ns,
        .stall_limit_ns = tier->stall_limit_ns,
        .is_ended = ends_with_tier,
        .owner = tier,
    };
}

ingot_status_t tier_admit(struct tier *tier, struct request *request)
{
    *request = tier_make_request(tier);
    const uint64_t now_ns = request->began_ns;
    guard_lock();
    const bool is_paused = guard_is_paused(tier->guard);
    const uint64_t allowance_ns = is_paused ? 0 : guard_allowance(tier->guard, now_ns);
    guard_unlock();
    if (allowance_ns < NS_NEVER - now_ns)
        request->deadline_ns = now_ns + allowance_ns;
    if (allowance_ns != 0)
        return INGOT_SUCCESS;
    if (is_paused) {
        (void)tier_need_thread(tier); /* it may be missing, because memory ran out earlier */
        return ingot_set_error_detail(INGOT_NOT_FOUND, "the remote tier's server failed and is not asked now");
    }
    if (!atomic_exchange_explicit(&tier->has_told_no_time, true, memory_order_relaxed))
        tier_tell(tier, INGOT_IO_ERROR, 0,
                  "the remote tier's server is not asked: failed and slow loads took all the time that may be lost");
    return ingot_set_error_detail(INGOT_NOT_FOUND,
                                  "failed and slow loads took all the time that the remote tier may lose");
}

void tier_tell(const struct tier *tier, ingot_status_t status, size_t bytes, const char *format, ...)
{
    char reason[REASON_CAPACITY];
    va_list arguments;
    if (tier->on_event == NULL)
        return;
    va_start(arguments, format);
    (void)vsnprintf(reason, sizeof(reason), format, arguments);
    va_end(arguments);
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

void tier_settle(struct tier *tier, const struct request *request, enum guard_finding finding, uint64_t fair_ns,
                 const char *reason)
{
    const uint64_t now_ns = request->ended_ns != 0 ? request->ended_ns : nanoseconds_now();
    guard_lock();
    const uint64_t lost_ns =
        now_ns - request->began_ns > fair_ns ? guard_lose(tier->guard, request->began_ns, now_ns) : 0;
    const bool is_pause = guard_note(tier->guard, finding, now_ns);
    guard_unlock();
    if (lost_ns != 0)
        ingot_metrics_add(INGOT_METRIC_REMOTE_LOST_NS, NULL, NULL, NULL, lost_ns);
    if (!is_pause)
        return;
    tier_tell(tier, INGOT_IO_ERROR, 0, "the remote tier's server is not asked until it answers again: %s", reason);
    (void)tier_need_thread(tier);
    tier_lock(tier);
    tier_wake(tier); /* the thread must find out when it asks the server */
    tier_unlock(tier);
}

/* The time of a request that failed always counts as lost. A server that works should not need long to say that it has
 * nothing. */
void tier_settle_outcome(struct tier *tier, const struct request *request, enum outcome outcome)
{
    const enum guard_finding finding = tier_finding_of(outcome);
    tier_settle(tier, request, finding, finding == GUARD_WORKS ? tier->slow_ns * 2 / 5 : 0, request->failure);
}

/* What the outcomes of requests mean: for the server's state, and for the caller. */
static const struct {
    enum guard_finding finding;
    ingot_status_t status;
} meanings[] = {
    [OUTCOME_DONE] = {GUARD_WORKS, INGOT_SUCCESS},
    [OUTCOME_MISSING] = {GUARD_WORKS, INGOT_NOT_FOUND},
    [OUTCOME_UNREACHABLE] = {GUARD_FAILS, INGOT_IO_ERROR},
    [OUTCOME_TIMED_OUT] = {GUARD_FAILS, INGOT_IO_ERROR},
    [OUTCOME_ENDED] = {GUARD_DOUBTFUL, INGOT_IO_ERROR},
    [OUTCOME_REFUSED] = {GUARD_FAILS, INGOT_IO_ERROR},
    [OUTCOME_BAD_ANSWER] = {GUARD_DOUBTFUL, INGOT_IO_ERROR},
    [OUTCOME_TOO_LARGE] = {GUARD_DOUBTFUL, INGOT_NO_SPACE},
    [OUTCOME_NO_MEMORY] = {GUARD_WORKS, INGOT_OUT_OF_MEMORY},
};

enum guard_finding tier_finding_of(enum outcome outcome)
{
    return meanings[outcome].finding;
}

ingot_status_t tier_status_of(enum outcome outcome)
{
    return meanings[outcome].status;
}
