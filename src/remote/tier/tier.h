/*
 * tier.h - a remote tier: a storage that keeps its blobs on one server.
 *
 * No lock is held during a request or an event.
 */
#ifndef INGOT_REMOTE_TIER_TIER_H
#define INGOT_REMOTE_TIER_TIER_H

#include <ingot/remote.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "remote/base/transport.h"
#include "remote/guard/guard.h"
#include "remote/tier/lease_list.h"
#include "remote/upload/upload_queue.h"

#define TIER_NAME_SPACE_CAPACITY 65u

struct tier {
    pid_t process;  /* the one that opened the tier; all fields up to `transport` are constant */
    uint32_t flags; /* ingot_remote_flags_t */
    size_t max_blob_bytes;
    uint64_t connect_limit_ns;
    uint64_t stall_limit_ns;
    uint64_t exit_time_ns;
    uint64_t lease_time_ms;
    ingot_event_callback_t on_event;
    void *on_event_user;
    char name_space[TIER_NAME_SPACE_CAPACITY];
    bool has_shared_secret; /* other users of this machine can read its credentials or its private key */
    struct transport transport;
    struct guard guard;
    struct upload_queue queue;
    struct leases leases;
    atomic_size_t group_size; /* size of the next group of loads; relaxed: a hint */
    atomic_bool is_ending;    /* the tier is being closed, so requests end early; relaxed */
    atomic_bool is_in_exit;   /* exit() has begun, so callers may make no more requests */
    atomic_uint asking_count; /* callers' requests under way; sequentially consistent with is_in_exit, see tier_admit */
    atomic_bool has_told_no_time; /* an event has reported that no time for failures is left; relaxed */
    ingot_remote_stats_t counts;  /* the queue's lock guards counts, has_thread and is_finished */
    bool has_thread;
    bool is_finished;
    pthread_t thread;        /* valid if has_thread */
    ingot_storage_t storage; /* not a reference; the registry's lock guards it and the two fields below */
    bool is_ended_by_exit;
    struct tier *next;
};

/* Adds to a field of the tier's counts. The caller does not hold the queue's lock. */
#define TIER_COUNT(tier, field, by) tier_count((tier), &(tier)->counts.field, (by))
void tier_count(struct tier *tier, uint64_t *count, uint64_t by);

/* Makes a request without a deadline, which ends early if the tier is being closed. */
struct request tier_make_request(struct tier *tier);
/* Asks the guard to admit a caller's request. When an admitted request has ended, the caller must call tier_leave. */
enum guard_verdict tier_admit(struct tier *tier, struct request *request, uint64_t now_ns);
void tier_leave(struct tier *tier, unsigned request_count);
/* Makes an admitted request end early if the tier stops asking the server. */
void tier_end_with_pause(struct request *request);

/* Emits an INGOT_EVENT_STORAGE_DEGRADED. */
void tier_tell(const struct tier *tier, ingot_status_t status, size_t bytes, const char *reason);
/* Reports that the tier stops loading from the server, or uploading to it; without a reason, that it goes on. */
void tier_tell_pause(const struct tier *tier, enum guard_side side, const char *reason);

/* Returns what the outcome of a request shows about the server. */
enum breaker_finding tier_finding_of(enum outcome outcome);
/* Returns the application's status for a failed request. */
ingot_status_t tier_status_of(enum outcome outcome);
/* Counts a load that failed. */
void tier_count_failure(struct tier *tier, enum outcome outcome);

#endif
