/*
 * tier.h - a remote tier: a storage that keeps its blobs on one server.
 *
 * Requests that the application waits for are made in its threads, and pass the guard. The tier's thread uploads,
 * removes, extends leases, and asks a server that has failed. Locks: the queue's lock guards all fields that change,
 * unless they are atomic. No lock is held during a request or an event.
 */
#ifndef INGOT_REMOTE_TIER_TIER_H
#define INGOT_REMOTE_TIER_TIER_H

#include <ingot/remote.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "remote/base/transport.h"
#include "remote/guard/guard.h"
#include "remote/upload/upload_queue.h"

#define TIER_NAME_SPACE_CAPACITY 65u

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
    struct guard guard;
    struct pauses upload_pauses;  /* begun by uploads that fail, which never stop loads */
    struct lease *leases;         /* see lease.c */
    atomic_bool is_ending;        /* the tier is being closed, so requests end early; relaxed */
    atomic_bool has_told_no_time; /* an event has reported that no time for failures is left; relaxed */
    ingot_remote_stats_t counts;
    bool has_thread; /* `thread` was started and not joined yet */
    bool is_working; /* the thread has not decided to end */
    bool is_finished;
    pthread_t thread;
    ingot_storage_t storage; /* not a reference; the registry's lock guards it and the next field */
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

enum tier_verdict { TIER_PASS, TIER_IS_PAUSED, TIER_NO_TIME };

/* Makes a request without a deadline, which ends early if the tier is being closed. */
struct request tier_make_request(struct tier *tier);
/* Decides whether the application may wait for a request now, and sets its deadline. */
enum tier_verdict tier_admit(struct tier *tier, struct request *request, uint64_t now_ns);

/* Starts the tier's thread (worker.h) if it is not running and the tier has not finished. If that fails, an event
 * reports it. Returns true if the thread is running. */
bool tier_need_worker(struct tier *tier);

/* Emits an INGOT_EVENT_STORAGE_DEGRADED. */
void tier_tell(const struct tier *tier, ingot_status_t status, size_t bytes, const char *reason);

/* Passes the result of an admitted request to the guard. Its time counts as lost if it took longer than fair_ns. An
 * event reports, with the reason, that the server is not asked for a while; the tier's thread then asks it. */
void tier_settle(struct tier *tier, enum guard_finding finding, uint64_t fair_ns, uint64_t began_ns, uint64_t ended_ns,
                 const char *reason);
/* Does the same for a request with this outcome, which brought no blob. */
void tier_settle_outcome(struct tier *tier, enum outcome outcome, uint64_t began_ns, uint64_t ended_ns,
                         const char *reason);
/* Notes the result of an upload. An event reports that uploads wait, or go on. */
void tier_note_upload(struct tier *tier, bool has_succeeded, const char *reason);
/* True if uploads wait after a failure. The caller holds the lock. */
bool tier_pauses_uploads(const struct tier *tier);

/* Returns what the outcome of a request shows about the server. */
enum guard_finding tier_finding_of(enum outcome outcome);
/* Returns the application's status for a failed request. */
ingot_status_t tier_status_of(enum outcome outcome);
/* Counts a load that failed. */
void tier_count_failure(struct tier *tier, enum outcome outcome);

#endif
