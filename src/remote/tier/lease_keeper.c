/*
 * lease_keeper.c - the thread that renews and ends a tier's leases; see lease_keeper.h.
 *
 * The thread renews a lease after each third of its time, so that one lost request does not end the lease. If the
 * process dies or is stopped, nobody renews its leases, and they soon run out. The thread ends a lease only after the
 * upload of the lease's program, because machines that wait for the lease expect to find the object when it ends.
 * Another thread makes the uploads, because a large upload may take longer than a lease lasts. Only this thread removes
 * leases from the list, so a lease stays valid while it works without the lock.
 */
#include "remote/tier/lease_keeper.h"

#include <ingot/ingot.h>
#include <stdlib.h>
#include <string.h>

#include "remote/base/clock.h"
#include "remote/base/thread.h"
#include "remote/tier/tier.h"
#include "remote/tier/worker.h"

#define POINTLESS_MS 60000u
#define PARTS 3u
#define FINAL_NS (250 * CLOCK_NS_PER_MS) /* for ending all leases when the process ends */

/* ---- the thread ---- */

static uint64_t part_of_time_ns(const struct tier *tier)
{
    return tier->lease_time_ms * CLOCK_NS_PER_MS / PARTS;
}

/* True if the lease can be ended on the server: its holder has ended it, and the upload of its program, if there is
 * one, is over. If nothing that old is left in the queue, the upload was dropped or replaced. Requires the lock. */
static bool is_to_end(struct tier *tier, const struct lease *lease)
{
    return lease->is_ended && (!lease->has_upload || lease->is_upload_over || lease->is_lost ||
                               !upload_queue_waits_up_to(&tier->queue, lease->upload_number));
}

/* Asks the server to renew or end a lease. Called without the lock. Returns OUTCOME_ENDED, without a request, if the
 * breaker is open. */
static enum outcome ask(struct tier *tier, const struct lease *lease, bool is_end, uint64_t time_ms)
{
    const struct lease_transport_ops *ops = tier->transport.ops->leases;
    struct request request = tier_make_request(tier);
    if (!guard_get_state(&tier->guard).is_closed[GUARD_LOADS])
        return OUTCOME_ENDED;
    const enum outcome outcome =
        (is_end ? ops->end : ops->renew)(tier->transport.self, &request, lease->key, lease->token, time_ms);
    const enum breaker_finding finding = outcome == OUTCOME_REFUSED ? BREAKER_WORKS : tier_finding_of(outcome);
    if (outcome != OUTCOME_ENDED && guard_note(&tier->guard, GUARD_LOADS, finding, clock_now_ns())) {
        tier_tell_pause(tier, GUARD_LOADS, request.failure);
        worker_ensure(tier);
        upload_queue_wake(&tier->queue); /* the upload thread must find out when the next probe is due */
    }
    return outcome;
}

/* Renews a lease. Requires the lock, but releases it during the request. */
static void renew(struct tier *tier, struct lease *lease)
{
    (void)pthread_mutex_unlock(&tier->leases.lock);
    const uint64_t began_ns = clock_now_ns();
    const enum outcome outcome = ask(tier, lease, false, tier->lease_time_ms);
    const uint64_t now_ns = clock_now_ns();
    (void)pthread_mutex_lock(&tier->leases.lock);
    lease->renew_at_ns = now_ns + part_of_time_ns(tier);
    if (outcome == OUTCOME_DONE) {
        lease->renew_at_ns = began_ns + part_of_time_ns(tier);
        lease->runs_out_at_ns = began_ns + tier->lease_time_ms * CLOCK_NS_PER_MS;
    }
    lease->is_lost = outcome == OUTCOME_MISSING || now_ns >= lease->runs_out_at_ns;
    if (!lease->is_lost)
        return;
    lease->renew_at_ns = CLOCK_NEVER;
    tier_count(tier, TIER_LOST_LEASES, 1);
    (void)pthread_mutex_unlock(&tier->leases.lock);
    tier_tell(tier, INGOT_BUSY, 0,
              "the lease of a program that is being compiled was lost: another machine may compile it as well");
    (void)pthread_mutex_lock(&tier->leases.lock);
}

/* Returns for how long the server should answer other machines that waiting is useless. Requires the lock. */
static uint64_t pointless_ms(const struct lease *lease)
{
    const bool is_pointless =
        lease->is_ended && (lease->has_upload ? lease->has_upload_failed : !lease->may_others_take);
    return is_pointless ? POINTLESS_MS : 0;
}

static bool is_ending(const struct tier *tier)
{
    return atomic_load_explicit(&tier->is_ending, memory_order_relaxed);
}

/* Ends and frees a lease. Requires the lock, but releases it during the request. If the request fails, the lease runs
 * out on the server. */
static void finish(struct tier *tier, struct lease *lease)
{
    const bool is_held = !lease->is_lost;
    const uint64_t time_ms = pointless_ms(lease);
    (void)pthread_mutex_unlock(&tier->leases.lock);
    const enum outcome outcome = is_held ? ask(tier, lease, true, time_ms) : OUTCOME_DONE;
    (void)pthread_mutex_lock(&tier->leases.lock);
    if (outcome == OUTCOME_ENDED && is_ending(tier))
        return; /* the tier is being closed, and end_all ends the lease */
    lease_list_remove(&tier->leases, lease);
    free(lease);
}

/* Does what is due for one lease. If nothing is due, returns false and sets *moment_ns to when something will be.
 * Requires the lock, but releases it during a request. */
static bool work_once(struct tier *tier, uint64_t *moment_ns)
{
    const uint64_t now_ns = clock_now_ns();
    *moment_ns = CLOCK_NEVER;
    for (struct lease *lease = is_ending(tier) ? NULL : tier->leases.first; lease != NULL; lease = lease->next) {
        if (is_to_end(tier, lease)) {
            finish(tier, lease);
            return true;
        }
        if (lease->renew_at_ns <= now_ns) {
            renew(tier, lease);
            return true;
        }
        *moment_ns = lease->renew_at_ns < *moment_ns ? lease->renew_at_ns : *moment_ns;
    }
    return false;
}

/* What a request to end a lease needs, copied from the lease, which other threads may still use. */
struct last_request {
    char key[OBJECT_KEY_CAPACITY];
    char token[LEASE_TOKEN_CAPACITY];
    uint64_t pointless_ms;
};

/* Copies the first lease that is not lost, and marks it as lost. Returns false if there is none. */
static bool take_last_request(struct lease_list *list, struct last_request *last)
{
    (void)pthread_mutex_lock(&list->lock);
    struct lease *lease = list->first;
    while (lease != NULL && lease->is_lost)
        lease = lease->next;
    if (lease != NULL) {
        lease->is_lost = true;
        memcpy(last->key, lease->key, sizeof(last->key));
        memcpy(last->token, lease->token, sizeof(last->token));
        last->pointless_ms = pointless_ms(lease);
    }
    (void)pthread_mutex_unlock(&list->lock);
    return lease != NULL;
}

/* Ends all leases on the server, so that other machines need not wait until they run out. The guard counts all these
 * requests as one. */
static void end_all(struct tier *tier)
{
    const struct lease_transport_ops *ops = tier->transport.ops->leases;
    struct request request = tier_make_request(tier);
    struct last_request last;
    const uint64_t began_ns = clock_now_ns();
    if (!take_last_request(&tier->leases, &last) || guard_admit(&tier->guard, &request, began_ns) != GUARD_PASS)
        return;
    request.is_ended = NULL; /* otherwise, the requests would end immediately, because the tier is being closed */
    if (request.deadline_ns > began_ns + FINAL_NS)
        request.deadline_ns = began_ns + FINAL_NS;
    enum outcome outcome = OUTCOME_DONE;
    do {
        outcome = ops->end(tier->transport.self, &request, last.key, last.token, last.pointless_ms);
    } while ((outcome == OUTCOME_DONE || outcome == OUTCOME_MISSING) && take_last_request(&tier->leases, &last));
    (void)guard_settle(&tier->guard, tier_finding_of(outcome), guard_fair_miss_ns(&tier->guard), began_ns,
                       clock_now_ns());
}

static void *run(void *user)
{
    struct tier *tier = user;
    uint64_t moment_ns = 0;
    (void)pthread_mutex_lock(&tier->leases.lock);
    while (!tier->leases.is_ending)
        if (!work_once(tier, &moment_ns) && !tier->leases.is_ending)
            thread_wait(&tier->leases.has_changed, &tier->leases.lock, moment_ns);
    (void)pthread_mutex_unlock(&tier->leases.lock);
    return NULL;
}

void lease_keeper_finish(struct tier *tier)
{
    (void)pthread_mutex_lock(&tier->leases.lock);
    const bool is_first = !tier->leases.is_ending;
    const bool has_thread = tier->leases.has_thread;
    tier->leases.is_ending = true;
    (void)pthread_cond_broadcast(&tier->leases.has_changed);
    (void)pthread_mutex_unlock(&tier->leases.lock);
    if (!is_first || !has_thread)
        return;
    (void)pthread_join(tier->leases.thread, NULL);
    end_all(tier);
}

static bool ensure_thread(struct tier *tier)
{
    (void)pthread_mutex_lock(&tier->leases.lock);
    if (!tier->leases.has_thread && !tier->leases.is_ending)
        tier->leases.has_thread = thread_start(&tier->leases.thread, run, tier);
    const bool is_running = tier->leases.has_thread && !tier->leases.is_ending;
    (void)pthread_mutex_unlock(&tier->leases.lock);
    return is_running;
}

struct lease *lease_keeper_make(struct tier *tier, const char *key, const char *token)
{
    struct lease *lease = ensure_thread(tier) ? calloc(1, sizeof(*lease)) : NULL;
    if (lease == NULL)
        return NULL;
    memcpy(lease->key, key, sizeof(lease->key));
    memcpy(lease->token, token, sizeof(lease->token));
    return lease;
}

void lease_keeper_add(struct tier *tier, struct lease *lease, uint64_t began_ns)
{
    lease->renew_at_ns = began_ns + part_of_time_ns(tier);
    lease->runs_out_at_ns = began_ns + tier->lease_time_ms * CLOCK_NS_PER_MS;
    lease_list_add(&tier->leases, lease);
}
