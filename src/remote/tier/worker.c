/*
 * worker.c - the tier's thread; see worker.h.
 *
 * The thread sleeps until it may upload something, or until a probe is due. It makes at most three attempts at an
 * upload, with the breaker's pause between them. While the breaker of the uploads is open, the first upload after the
 * pause shows whether the server takes uploads again. Leases go before everything else, also while an upload waits for
 * the network. Signals are not delivered to the thread.
 */
#include "remote/tier/worker.h"

#include <ingot/ingot.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "remote/base/clock.h"
#include "remote/object/envelope.h"
#include "remote/object/object_key.h"
#include "remote/tier/leases.h"
#include "util/nanoseconds.h"
#include "util/thread.h"

#define MOST_ATTEMPTS 3u
#define COMPRESSION_LEVEL 3
#define REASON_CAPACITY 512u

/* ---- uploads ---- */

static enum outcome send_blob(struct tier *tier, const struct upload *upload, const char *key, struct request *request)
{
    const int level = (tier->flags & (uint32_t)INGOT_REMOTE_NO_COMPRESSION) != 0 ? 0 : COMPRESSION_LEVEL;
    size_t size = 0;
    uint8_t *object = NULL;
    if (envelope_encode(upload->id_size, upload->id, upload->blob_size, upload->blob, nanoseconds_of(CLOCK_REALTIME),
                        level, &size, &object) != INGOT_SUCCESS)
        return request_fail(request, OUTCOME_NO_MEMORY, "no memory for an object");
    const enum outcome outcome = tier->transport.ops->put(tier->transport.self, request, key, size, object);
    free(object);
    if (outcome == OUTCOME_DONE) {
        TIER_COUNT(tier, uploads, 1);
        TIER_COUNT(tier, sent_bytes, size);
    }
    return outcome;
}

static enum outcome perform_upload(struct tier *tier, const struct upload *upload, const char *key,
                                   struct request *request)
{
    if (upload->blob_size != 0)
        return send_blob(tier, upload, key, request);
    const enum outcome outcome = tier->transport.ops->remove(tier->transport.self, request, key);
    if (outcome == OUTCOME_DONE || outcome == OUTCOME_MISSING)
        TIER_COUNT(tier, removals, 1);
    return outcome;
}

static void tell_failed(struct tier *tier, const struct upload *upload, enum outcome outcome, const char *reason)
{
    char text[REASON_CAPACITY];
    (void)snprintf(text, sizeof(text), "%s the remote tier failed: %s",
                   upload->blob_size != 0 ? "uploading to" : "removing from", reason);
    tier_tell(tier, tier_status_of(outcome), upload->blob_size, text);
    TIER_COUNT(tier, failed_uploads, 1); /* after the event, which a reader of the counts may look for */
}

/* Passes the result of an upload to the breaker. is_trial: it was made to find out whether the server takes uploads
 * again. */
static void note_upload(struct tier *tier, bool is_trial, enum outcome outcome, const char *reason)
{
    /* how large an object may be does not depend on the server's state, so no other upload has to wait */
    const enum breaker_finding finding = outcome == OUTCOME_TOO_LARGE ? BREAKER_WORKS : tier_finding_of(outcome);
    if (is_trial)
        tier_end_probe(tier, TIER_UPLOADS, finding == BREAKER_WORKS);
    if (outcome != OUTCOME_ENDED)
        (void)tier_note(tier, TIER_UPLOADS, finding, clock_now_ns(), reason);
}

static void keep_leases(const struct request *request)
{
    (void)leases_work(request->owner);
}

static void upload_one(struct tier *tier, bool is_trial)
{
    struct upload *upload = upload_queue_take(&tier->queue);
    if (upload == NULL) {
        tier_lock(tier); /* what waited was replaced or dropped; the next upload is the trial */
        (void)breaker_end_probe(&tier->breakers[TIER_UPLOADS], is_trial, clock_now_ns());
        tier_unlock(tier);
        return;
    }
    char key[OBJECT_KEY_CAPACITY];
    object_key_of(tier->name_space, upload->id_size, upload->id, key);
    struct request request = tier_make_request(tier);
    request.while_waiting = keep_leases;
    const enum outcome outcome = perform_upload(tier, upload, key, &request);
    const bool is_done = outcome == OUTCOME_DONE || outcome == OUTCOME_MISSING;
    const bool is_ended = outcome == OUTCOME_ENDED; /* the tier is being closed; worker_finish reports it */
    const bool is_tried_again = is_ended || (!is_done && tier_finding_of(outcome) == BREAKER_FAILS &&
                                             outcome != OUTCOME_REFUSED && ++upload->attempt_count < MOST_ATTEMPTS);
    note_upload(tier, is_trial, outcome, request.failure);
    if (!is_done && !is_tried_again) {
        tell_failed(tier, upload, outcome, request.failure);
        if (upload->blob_size != 0)
            leases_note_upload_failed(tier, key);
    }
    upload_queue_finish(&tier->queue, is_tried_again);
}

static bool does_answer(struct tier *tier)
{
    struct request request = tier_make_request(tier);
    return tier_finding_of(tier->transport.ops->probe(tier->transport.self, &request)) == BREAKER_WORKS;
}

/* Only an upload shows whether the server takes uploads. But while the server does not even answer, none is tried,
 * because the number of attempts is limited. */
static void try_upload(struct tier *tier)
{
    if (does_answer(tier))
        upload_one(tier, true);
    else
        tier_end_probe(tier, TIER_UPLOADS, false);
    upload_queue_wake(&tier->queue); /* threads that wait for uploads may have to give up, or to wait longer */
}

/* ---- the thread ---- */

static bool is_ending(const struct tier *tier)
{
    return atomic_load_explicit(&tier->is_ending, memory_order_relaxed);
}

/* Returns when a probe is due. The caller holds the lock. */
static uint64_t probe_due_ns(const struct tier *tier, enum tier_side side)
{
    const struct breaker *breaker = &tier->breakers[side];
    return breaker->state == BREAKER_OPEN ? breaker->probe_at_ns : CLOCK_NEVER;
}

/* Sleeps until there is something to do. Returns false if the tier is being closed. */
static bool wait_for_work(struct tier *tier)
{
    tier_lock(tier);
    while (!is_ending(tier)) {
        const bool has_upload = tier->queue.first != NULL;
        const uint64_t trial_at_ns = has_upload ? probe_due_ns(tier, TIER_UPLOADS) : CLOCK_NEVER;
        const uint64_t probe_at_ns = probe_due_ns(tier, TIER_LOADS);
        const uint64_t lease_at_ns = leases_due_ns(tier);
        const uint64_t first_ns = trial_at_ns < probe_at_ns ? trial_at_ns : probe_at_ns;
        const uint64_t due_ns = lease_at_ns < first_ns ? lease_at_ns : first_ns;
        if ((has_upload && tier->breakers[TIER_UPLOADS].state == BREAKER_CLOSED) || due_ns <= clock_now_ns())
            break;
        upload_queue_wait(&tier->queue, due_ns);
    }
    tier_unlock(tier);
    return !is_ending(tier);
}

static void *run_tier_worker(void *user)
{
    struct tier *tier = user;
    while (wait_for_work(tier)) {
        if (leases_work(tier))
            continue;
        if (tier_begin_probe(tier, TIER_LOADS))
            tier_end_probe(tier, TIER_LOADS, does_answer(tier));
        else if (tier_is_closed(tier, TIER_UPLOADS))
            upload_one(tier, false);
        else if (tier_begin_probe(tier, TIER_UPLOADS))
            try_upload(tier);
    }
    return NULL;
}

bool worker_ensure(struct tier *tier)
{
    tier_lock(tier);
    const bool is_needed = !tier->has_thread && !tier->is_finished;
    if (is_needed)
        tier->has_thread = thread_start(&tier->thread, run_tier_worker, tier);
    const bool is_running = tier->has_thread && !tier->is_finished;
    tier_unlock(tier);
    if (is_needed && !is_running)
        tier_tell(tier, INGOT_OUT_OF_MEMORY, 0,
                  "the remote tier's thread could not be started, so nothing is uploaded");
    return is_running;
}

/* True if the server takes uploads, or if the thread is about to find out. An upload that has just failed is about to
 * end. The caller holds the lock. */
static bool may_upload_soon(const struct tier *tier)
{
    const uint64_t trial_at_ns = probe_due_ns(tier, TIER_UPLOADS);
    return tier->queue.active != NULL || trial_at_ns == CLOCK_NEVER || trial_at_ns <= clock_now_ns();
}

bool worker_wait(struct tier *tier, uint64_t moment_ns)
{
    tier_lock(tier);
    const uint64_t number = tier->queue.last_number;
    while (upload_queue_has_up_to(&tier->queue, number) && clock_now_ns() < moment_ns && may_upload_soon(tier))
        upload_queue_wait(&tier->queue, moment_ns);
    const bool is_done = !upload_queue_has_up_to(&tier->queue, number);
    tier_unlock(tier);
    return is_done;
}

void worker_finish(struct tier *tier)
{
    char reason[REASON_CAPACITY];
    tier_lock(tier);
    const bool is_first = !tier->is_finished;
    const bool has_thread = tier->has_thread;
    tier->is_finished = true;
    tier_unlock(tier);
    if (!is_first)
        return;
    atomic_store_explicit(&tier->is_ending, true, memory_order_relaxed);
    upload_queue_wake(&tier->queue);
    if (has_thread)
        thread_join(tier->thread);
    const size_t count = upload_queue_close(&tier->queue);
    if (count != 0) {
        TIER_COUNT(tier, dropped_uploads, count);
        (void)snprintf(reason, sizeof(reason),
                       "%zu uploads to the remote tier were dropped: there was no time for them", count);
        tier_tell(tier, INGOT_BUSY, 0, reason);
    }
    if (has_thread)
        leases_end_all(tier);
}
