/*
 * tier.h - a remote tier: a storage that keeps its blobs on one server.
 *
 * A request passes if the circuit breaker of its side is closed and time is left that may be lost. Its result goes to
 * both. Locks: the queue's lock guards all fields that change, unless they are atomic. No lock is held during a request
 * or an event.
 */
#ifndef INGOT_REMOTE_TIER_TIER_H
#define INGOT_REMOTE_TIER_TIER_H

#include <ingot/remote.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "remote/base/transport.h"
#include "remote/guard/breaker.h"
#include "remote/guard/budget.h"
#include "remote/tier/lease_list.h"
#include "remote/upload/upload_queue.h"

#define TIER_NAME_SPACE_CAPACITY 65u

/* Which requests a breaker is for. A server may refuse uploads and answer loads: it is full, or the client may only
 * read. Leases belong to the loads, because the application waits for them. */
enum tier_side { TIER_LOADS, TIER_UPLOADS, TIER_SIDES };

struct tier {
    uint32_t flags; /* ingot_remote_flags_t; all fields up to `transport` are constant */
    size_t max_blob_bytes;
    uint64_t connect_limit_ns;
    uint64_t stall_limit_ns;
    uint64_t exit_time_ns;
    uint64_t lease_time_ms;
    uint64_t slow_ns; /* the time of a longer request counts as lost, whatever its result */
    ingot_event_callback_t on_event;
    void *on_event_user;
    char name_space[TIER_NAME_SPACE_CAPACITY];
    bool has_shared_secret; /* other users of this machine can read its credentials or its private key */
    struct transport transport;
    struct upload_queue queue;
    struct breaker breakers[TIER_SIDES];
    struct budget budget;
    struct leases leases;
    atomic_uint trips;        /* how often the loads' breaker opened; relaxed, because no other data depends on it */
    atomic_size_t group_size; /* size of the next group of loads; relaxed: a hint */
    atomic_bool is_ending;    /* the tier is being closed, so requests end early; relaxed */
    atomic_bool is_in_exit;   /* exit() has begun, so callers may make no more requests */
    atomic_uint asking_count; /* callers' requests under way; sequentially consistent with is_in_exit, see tier_admit */
    atomic_bool has_told_no_time; /* an event has reported that no time for failures is left; relaxed */
    ingot_remote_stats_t counts;
    bool has_thread;
    bool is_finished;
    pthread_t thread;        /* valid if has_thread */
    ingot_storage_t storage; /* not a reference; the registry's lock guards it and the two fields below */
    bool is_ended_by_exit;
    struct tier *next;
};

static inline void tier_lock(struct tier *tier)
{
    (void)pthread_mutex_lock(&tier->queue.lock);
}

static inline void tier_unlock(struct tier *tier)
{
    (void)pthread_mutex_unlock(&tier->queue.lock);
}

/* Adds to a field of the tier's counts. The caller does not hold the lock. */
#define TIER_COUNT(tier, field, by) tier_count((tier), &(tier)->counts.field, (by))
void tier_count(struct tier *tier, uint64_t *count, uint64_t by);

enum tier_verdict { TIER_PASS, TIER_IS_PAUSED, TIER_NO_TIME, TIER_IS_IN_EXIT };

/* Makes a request without a deadline, which ends early if the tier is being closed. */
struct request tier_make_request(struct tier *tier);
/* Decides whether a request may be made now, and sets its deadline_ns and trips_before. */
enum tier_verdict tier_allow(struct tier *tier, struct request *request, uint64_t now_ns);
/* Does the same for a caller's request, which exit() waits for. When it has ended, the caller must call tier_leave. */
enum tier_verdict tier_admit(struct tier *tier, struct request *request, uint64_t now_ns);
void tier_leave(struct tier *tier, unsigned request_count);
/* True if requests of other threads than this one are under way. */
bool tier_is_asked_by_others(const struct tier *tier);
/* Makes an admitted request end early if the tier stops asking the server. */
void tier_end_with_pause(struct request *request);

/* Emits an INGOT_EVENT_STORAGE_DEGRADED. */
void tier_tell(const struct tier *tier, ingot_status_t status, size_t bytes, const char *reason);

/* Counts time as lost. */
void tier_lose(struct tier *tier, uint64_t began_ns, uint64_t now_ns);
/* Passes the result of a request to the breaker. Returns true if this opened it; an event reports that, with the
 * reason. */
bool tier_note(struct tier *tier, enum tier_side side, enum breaker_finding finding, uint64_t now_ns,
               const char *reason);
bool tier_is_closed(struct tier *tier, enum tier_side side);
/* Returns true if a probe is due. The caller must then make it, and call tier_end_probe. */
bool tier_begin_probe(struct tier *tier, enum tier_side side);
/* An event reports it if the probe closed the breaker. If a server answers loads again, an upload is due, too. */
void tier_end_probe(struct tier *tier, enum tier_side side, bool has_succeeded);
/* Returns how long a request may take before its time counts as lost, if it brings nothing although the server works.
 * The time of a request that failed always counts. */
static inline uint64_t tier_fair_miss_ns(const struct tier *tier)
{
    return tier->slow_ns * 2 / 5;
}

/* Returns what the outcome of a request shows about the server. */
enum breaker_finding tier_finding_of(enum outcome outcome);
/* Returns the application's status for a failed request. */
ingot_status_t tier_status_of(enum outcome outcome);
/* Counts a load that failed. */
void tier_count_failure(struct tier *tier, enum outcome outcome);

#endif
