/*
 * guard.h - decides which requests may be made, for how long, and what their results mean. Combines circuit breakers
 * (breaker.h) with a budget of lost time (budget.h), for any number of threads.
 *
 * Loads and uploads have a breaker each, because a server may refuse uploads and answer loads: it is full, or the
 * client may only read. Leases belong to the loads, because the application waits for them.
 *
 * Lock: one mutex, held for a few instructions, never during a request.
 */
#ifndef INGOT_REMOTE_GUARD_GUARD_H
#define INGOT_REMOTE_GUARD_GUARD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "remote/base/request.h"
#include "remote/guard/breaker.h"
#include "remote/guard/budget.h"

/* Which requests a breaker is for. */
enum guard_side { GUARD_LOADS, GUARD_UPLOADS, GUARD_SIDES };

struct guard {
    pthread_mutex_t lock;
    struct breaker breakers[GUARD_SIDES]; /* `lock` guards breakers and budget */
    struct budget budget;
    atomic_uint trips; /* how often the loads' breaker opened; relaxed, because no other data depends on it */
    uint64_t slow_ns;  /* the time of a longer request counts as lost, whatever its result; constant */
};

struct guard_settings {
    uint64_t shortest_pause_ns;
    uint64_t longest_pause_ns;
    uint64_t lost_time_ns;
    uint64_t slow_ns;
    uint64_t seed;
};

/* Returns false if the system has no resources for a mutex. */
bool guard_init(struct guard *guard, const struct guard_settings *settings, uint64_t now_ns);
void guard_fini(struct guard *guard);

enum guard_verdict {
    GUARD_PASS,
    GUARD_IS_OPEN,
    GUARD_NO_TIME,
    GUARD_EXIT, /* the process is ending; only tier_admit returns this */
};

/* Decides whether the application may make a request now, and sets its deadline_ns and trips_before. */
enum guard_verdict guard_admit(struct guard *guard, struct request *request, uint64_t now_ns);
/* Returns how long the application may wait for uploads now; 0: not at all. CLOCK_NEVER: without limit. */
uint64_t guard_upload_time_ns(struct guard *guard, uint64_t now_ns);
/* Records the result of an admitted request. Its time counts as lost if it took longer than fair_ns. Returns true if
 * the result opened the breaker. */
bool guard_settle(struct guard *guard, enum breaker_finding finding, uint64_t fair_ns, uint64_t began_ns,
                  uint64_t now_ns);
/* Return how long a request may take before its time counts as lost: one that received a blob of byte_count bytes, and
 * one that brought nothing, although the server works. The time of a request that failed always counts: 0. */
uint64_t guard_fair_hit_ns(const struct guard *guard, uint64_t byte_count);
uint64_t guard_fair_miss_ns(const struct guard *guard);
/* Counts time as lost, although no request took it. */
void guard_lose(struct guard *guard, uint64_t began_ns, uint64_t now_ns);
/* Records the result of a request of the tier's own threads, whose time never counts as lost. Returns true if the
 * result opened the breaker. */
bool guard_note(struct guard *guard, enum guard_side side, enum breaker_finding finding, uint64_t now_ns);
bool guard_begin_probe(struct guard *guard, enum guard_side side, uint64_t now_ns);
/* Returns true if the probe closed the breaker. If a server answers loads again, an upload is due, too. */
bool guard_end_probe(struct guard *guard, enum guard_side side, bool has_succeeded, uint64_t now_ns);

/* Returns how often the loads' breaker opened. Takes no lock. */
static inline unsigned guard_trips(const struct guard *guard)
{
    return atomic_load_explicit(&guard->trips, memory_order_relaxed);
}

struct guard_state {
    bool is_closed[GUARD_SIDES];
    uint64_t probe_at_ns[GUARD_SIDES]; /* CLOCK_NEVER if the breaker is not open */
    uint64_t lost_ns;                  /* since the beginning */
    unsigned trips;
};
struct guard_state guard_get_state(struct guard *guard);

#endif
