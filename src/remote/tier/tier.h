/*
 * tier.h - a remote tier: a storage that keeps its blobs on one server.
 *
 * Requests that the application waits for are made in its threads, and pass the server's guard. The tier's thread
 * uploads, removes, extends leases, and asks a server that has failed; it runs only while there is something to do.
 * Locks: the tier's lock guards all fields that change, unless they are atomic. The guard has a lock of its own, which
 * is taken last. No lock is held during a request or an event.
 */
#ifndef INGOT_REMOTE_TIER_TIER_H
#define INGOT_REMOTE_TIER_TIER_H

#include <ingot/private/remote.h>
#include <ingot/remote.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "remote/base/base.h"
#include "remote/curl/curl.h"
#include "remote/guard/guard.h"
#include "remote/object/envelope.h"

#define TIER_NAME_SPACE_CAPACITY 65u

struct tier {
    uint32_t flags; /* ingot_remote_flags_t; all fields up to `guard` are constant */
    size_t max_blob_bytes;
    uint64_t connect_limit_ns;
    uint64_t stall_limit_ns;
    uint64_t exit_time_ns;
    uint64_t lease_time_ms;
    uint64_t slow_ns; /* the time of a longer request counts as lost, whatever its result */
    ingot_event_callback_t on_event;
    void *on_event_user;
    char name_space[TIER_NAME_SPACE_CAPACITY];
    uint64_t max_waiting_bytes;
    size_t max_waiting;
    const char *protocol; /* "redis", "http" or "s3" */
    struct access access;
    struct transport transport;
    struct guard *guard; /* the server's */
    pthread_mutex_t lock;
    pthread_cond_t has_changed; /* wakes the thread, and callers that wait for uploads; steady clock */
    struct upload *first;       /* what waits to be uploaded, oldest first; see upload.c */
    struct upload *active;      /* what the thread is uploading, or NULL */
    size_t waiting_count;       /* waiting_count and waiting_bytes do not include the active item */
    uint64_t waiting_bytes;
    uint64_t last_number;         /* of the newest item that was ever added; 0: none */
    struct pauses upload_pauses;  /* begun by uploads that fail, which never stop loads */
    struct lease *leases;         /* see leases.c */
    atomic_bool is_ending;        /* the tier is being closed, so requests end early; relaxed */
    atomic_bool has_told_no_time; /* an event has reported that no time for failures is left; relaxed */
    ingot_remote_stats_t counts;
    bool has_thread; /* `thread` was started and not joined yet */
    bool is_working; /* the thread has not decided to end */
    pthread_t thread;
};

static inline void tier_lock(struct tier *tier)
{
    (void)pthread_mutex_lock(&tier->lock);
}

static inline void tier_unlock(struct tier *tier)
{
    (void)pthread_mutex_unlock(&tier->lock);
}

static inline bool tier_is_ending(const struct tier *tier)
{
    return atomic_load_explicit(&tier->is_ending, memory_order_relaxed);
}

/* Adds to a field of the tier's counts, and to the metrics, in which the field's name is the result. The caller does
 * not hold the lock. */
#define TIER_COUNT(tier, field, by) tier_count((tier), &(tier)->counts.field, #field, (by))
void tier_count(struct tier *tier, uint64_t *count, const char *result, uint64_t by);

/* Wakes the tier's thread, and all callers that wait. The caller holds the lock. */
static inline void tier_wake(struct tier *tier)
{
    (void)pthread_cond_broadcast(&tier->has_changed);
}

/* ---- open.c ---- */

/* Sets the fields that the info leaves open to what the user's environment says, and adds its flags. The strings are
 * those of the environment. `trust` receives the policy and the key files; the info refers to it.
 * @retval INGOT_INVALID_ARGUMENTS  The detail names the variable and its value. */
ingot_status_t tier_read_environment(ingot_remote_info_t *info, ingot_persist_trust_t *trust);
/* Checks the info and makes a tier, which has no thread yet. Returns the statuses of ingot_remote_open. */
ingot_status_t tier_make(const ingot_remote_info_t *info, struct tier **made);
/* Frees a tier. Its thread must have ended, or must never have been started. */
void tier_free(struct tier *tier);
/* Finds the tier of a storage. @retval INGOT_INVALID_ARGUMENTS, INGOT_UNIMPLEMENTED */
ingot_status_t tier_find(ingot_storage_t storage, struct tier **tier);

/* ---- request.c ---- */

/* Makes a request without a deadline, which begins now, and ends early if the tier is being closed. */
struct request tier_make_request(struct tier *tier);
/* Makes a request that the application waits for. Decides whether it may do so now, and sets the deadline. Returns
 * INGOT_NOT_FOUND if not: the server has failed, or no time for failures is left, which an event reports once. Starts
 * the thread that asks a failed server again, if it is missing. */
ingot_status_t tier_admit(struct tier *tier, struct request *request);
/* Passes the result of an admitted request to the guard. Its time counts as lost if it took longer than fair_ns. An
 * event reports, with the reason, that the server is not asked for a while; the tier's thread then asks it. */
void tier_settle(struct tier *tier, const struct request *request, enum guard_finding finding, uint64_t fair_ns,
                 const char *reason);
/* Does the same for a request with this outcome, which brought no blob. */
void tier_settle_outcome(struct tier *tier, const struct request *request, enum outcome outcome);

/* Emits an INGOT_EVENT_STORAGE_DEGRADED, whose reason the format makes. */
__attribute__((format(printf, 4, 5))) void tier_tell(const struct tier *tier, ingot_status_t status, size_t bytes,
                                                     const char *format, ...);
/* Returns what the outcome of a request shows about the server. */
enum guard_finding tier_finding_of(enum outcome outcome);
/* Returns the application's status for a failed request. */
ingot_status_t tier_status_of(enum outcome outcome);

/* ---- load.c ---- */

/* The operation `load` of ingot_storage_ops_t; self is a tier, here and below. */
ingot_status_t tier_load(void *self, size_t id_size, const uint8_t *id, ingot_buffer_t *blob);
/* The operation `leave_wish`, for a protocol that has wishes. */
ingot_status_t tier_leave_wish(void *self, size_t id_size, const uint8_t *id);

/* ---- upload.c ---- */

ingot_status_t tier_store(void *self, size_t id_size, const uint8_t *id, size_t blob_size, const uint8_t *blob);
ingot_status_t tier_remove(void *self, size_t id_size, const uint8_t *id);

/* Returns false if nothing waits under this key. Otherwise sets *size to the size of the newest blob, and *copy to a
 * copy that the caller frees: NULL for a removal, or if memory runs out. copy may be NULL. */
bool uploads_find(struct tier *tier, const char *key, size_t *size, uint8_t **copy);
/* Returns the newest item of a key, or NULL. The caller holds the lock. */
const struct upload *uploads_newest(const struct tier *tier, const char *key);

/* Notes the result of an upload. An event reports that uploads wait, or go on. */
void tier_note_upload(struct tier *tier, bool has_succeeded, const char *reason);
/* True if uploads wait after a failure. The caller holds the lock. */
bool tier_pauses_uploads(const struct tier *tier);

/* Starts the tier's thread if it is not running. If that fails, an event reports it. Returns true if it is running. */
bool tier_need_thread(struct tier *tier);
/* Waits until the uploads and removals that are pending now are done and, with with_leases, ended leases are ended on
 * the server. Returns false as soon as uploads wait after a failure, or if something is still pending at `moment_ns`.
 */
bool tier_wait_for_uploads(struct tier *tier, uint64_t moment_ns, bool with_leases);
/* Lets the thread work for as long as the tier's exit time and the time that may be lost allow, and then ends it. Drops
 * the pending uploads; an event reports how many. */
void tier_finish(struct tier *tier);

/* ---- leases.c ---- */

/* Operations of ingot_storage_ops_t for a protocol that has leases. */
ingot_lease_answer_t tier_take_lease(void *self, size_t id_size, const uint8_t *id, void **lease);
void tier_end_lease(void *self, void *lease, int may_others_take);

/* Frees all leases. The tier's thread must have ended. */
void leases_fini(struct tier *tier);
/* Notes that a key's object waits for its upload, or that the upload has failed, if there is a lease for the key. The
 * caller holds the lock. */
void leases_note_upload(struct tier *tier, const char *key, bool has_failed);
/* True if there are leases that wait to be ended. The caller holds the lock. */
bool leases_are_ending(const struct tier *tier);
/* Returns when a lease must be extended or ended: 0: now. The caller holds the lock. */
uint64_t leases_due_ns(const struct tier *tier);
/* Extends or ends one lease for which this is due. Returns false if there was none. Called by the tier's thread. */
bool leases_work(struct tier *tier);

#endif
