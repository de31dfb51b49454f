/*
 * leases.c - renews and ends a tier's leases; see leases.h.
 *
 * A lease is renewed after each third of its time, so that one lost request does not end it. If the process dies or is
 * stopped, nobody renews its leases, and they soon run out. A lease is ended only after the upload of its program,
 * because machines that wait for the lease expect to find the object when it ends. A large upload may take longer than
 * a lease lasts, so the tier's thread also renews leases while an upload waits for the network.
 */
#include "remote/tier/leases.h"

#include <ingot/ingot.h>
#include <stdlib.h>
#include <string.h>

#include "remote/base/clock.h"
#include "remote/tier/tier.h"

#define POINTLESS_MS 60000u
#define PARTS 3u
#define FINAL_NS (250 * CLOCK_NS_PER_MS) /* for ending all leases when the process ends */

/* Releases the lock after a change, and wakes the thread. */
static void unlock_changed(struct tier *tier)
{
    (void)pthread_cond_broadcast(&tier->queue.has_changed);
    tier_unlock(tier);
}

/* ---- the list ---- */

void leases_init(struct leases *leases)
{
    leases->first = NULL;
    atomic_init(&leases->off_until_ns, 0);
}

void leases_fini(struct leases *leases)
{
    while (leases->first != NULL) {
        struct lease *lease = leases->first;
        leases->first = lease->next;
        free(lease);
    }
}

static uint64_t part_of_time_ns(const struct tier *tier)
{
    return tier->lease_time_ms * CLOCK_NS_PER_MS / PARTS;
}

/* Notes that the server has given or renewed a lease. */
static void extend_lease(const struct tier *tier, struct lease *lease, uint64_t began_ns)
{
    lease->renew_at_ns = began_ns + part_of_time_ns(tier);
    lease->runs_out_at_ns = began_ns + tier->lease_time_ms * CLOCK_NS_PER_MS;
}

void leases_add(struct tier *tier, struct lease *lease, uint64_t began_ns)
{
    extend_lease(tier, lease, began_ns);
    tier_lock(tier);
    lease->next = tier->leases.first;
    tier->leases.first = lease;
    unlock_changed(tier);
}

/* Removes and frees a lease. Requires the lock. */
static void drop_lease(struct tier *tier, struct lease *lease)
{
    struct lease **at = &tier->leases.first;
    while (*at != lease)
        at = &(*at)->next;
    *at = lease->next;
    free(lease);
}

/* Makes the tier's thread end a lease. */
void tier_end_lease(void *self, void *lease, int may_others_take)
{
    struct tier *tier = self;
    struct lease *ended = lease;
    tier_lock(tier);
    ended->is_ended = true;
    ended->may_others_take = may_others_take != 0;
    unlock_changed(tier);
}

/* Returns the first lease for a key from `lease` on, or NULL. */
static struct lease *find_lease(struct lease *lease, const char *key)
{
    while (lease != NULL && strcmp(lease->key, key) != 0)
        lease = lease->next;
    return lease;
}

void leases_note_queued(struct tier *tier, const char *key, uint64_t upload_number)
{
    tier_lock(tier);
    for (struct lease *lease = find_lease(tier->leases.first, key); lease != NULL;
         lease = find_lease(lease->next, key)) {
        lease->has_upload = true;
        lease->upload_number = upload_number;
    }
    unlock_changed(tier);
}

void leases_note_upload_failed(struct tier *tier, const char *key)
{
    tier_lock(tier);
    for (struct lease *lease = find_lease(tier->leases.first, key); lease != NULL; lease = find_lease(lease->next, key))
        lease->has_upload_failed = true;
    tier_unlock(tier);
}

/* ---- what the thread does ---- */

/* True if the lease can be ended on the server: its holder has ended it, and the upload of its program, if there is
 * one, is over: nothing that old is left in the queue. Requires the lock. */
static bool is_to_end(const struct tier *tier, const struct lease *lease)
{
    return lease->is_ended &&
           (!lease->has_upload || lease->is_lost || !upload_queue_has_up_to(&tier->queue, lease->upload_number));
}

uint64_t leases_due_ns(const struct tier *tier)
{
    uint64_t due_ns = CLOCK_NEVER;
    for (const struct lease *lease = tier->leases.first; lease != NULL; lease = lease->next) {
        const uint64_t own_ns = is_to_end(tier, lease) ? 0 : lease->renew_at_ns;
        due_ns = own_ns < due_ns ? own_ns : due_ns;
    }
    return due_ns;
}

/* Asks the server to renew or end a lease. Called without the lock. Returns OUTCOME_ENDED, without a request, if the
 * breaker is open. */
static enum outcome ask_about_lease(struct tier *tier, const struct lease *lease, bool is_end, uint64_t time_ms)
{
    const struct lease_transport_ops *ops = tier->transport.ops->leases;
    struct request request = tier_make_request(tier);
    if (!tier_is_closed(tier, TIER_LOADS))
        return OUTCOME_ENDED;
    const enum outcome outcome =
        (is_end ? ops->end : ops->renew)(tier->transport.self, &request, lease->key, lease->token, time_ms);
    const enum breaker_finding finding = outcome == OUTCOME_REFUSED ? BREAKER_WORKS : tier_finding_of(outcome);
    if (outcome != OUTCOME_ENDED)
        (void)tier_note(tier, TIER_LOADS, finding, clock_now_ns(), request.failure);
    return outcome;
}

/* Renews a lease. Requires the lock, but releases it during the request. */
static void renew_lease(struct tier *tier, struct lease *lease)
{
    tier_unlock(tier);
    const uint64_t began_ns = clock_now_ns();
    const enum outcome outcome = ask_about_lease(tier, lease, false, tier->lease_time_ms);
    const uint64_t now_ns = clock_now_ns();
    tier_lock(tier);
    if (outcome == OUTCOME_DONE)
        extend_lease(tier, lease, began_ns);
    else
        lease->renew_at_ns = now_ns + part_of_time_ns(tier);
    lease->is_lost = outcome == OUTCOME_MISSING || now_ns >= lease->runs_out_at_ns;
    if (!lease->is_lost)
        return;
    lease->renew_at_ns = CLOCK_NEVER;
    tier_unlock(tier);
    tier_tell(tier, INGOT_BUSY, 0,
              "the lease of a program that is being compiled was lost: another machine may compile it as well");
    TIER_COUNT(tier, lost_leases, 1); /* after the event, which a reader of the counts may look for */
    tier_lock(tier);
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
static void finish_lease(struct tier *tier, struct lease *lease)
{
    const bool is_held = !lease->is_lost;
    const uint64_t time_ms = pointless_ms(lease);
    tier_unlock(tier);
    const enum outcome outcome = is_held ? ask_about_lease(tier, lease, true, time_ms) : OUTCOME_DONE;
    tier_lock(tier);
    if (outcome != OUTCOME_ENDED || !is_ending(tier))
        drop_lease(tier, lease); /* otherwise, the tier is being closed, and leases_end_all ends the lease */
}

/* Does what is due for one lease. Returns false if nothing is due. Requires the lock, but releases it meanwhile. */
static bool work_once(struct tier *tier)
{
    const uint64_t now_ns = clock_now_ns();
    struct lease *lease = tier->leases.first;
    while (lease != NULL && !is_to_end(tier, lease) && lease->renew_at_ns > now_ns)
        lease = lease->next;
    if (lease == NULL)
        return false;
    if (is_to_end(tier, lease))
        finish_lease(tier, lease);
    else
        renew_lease(tier, lease);
    return true;
}

bool leases_work(struct tier *tier)
{
    bool has_worked = false;
    tier_lock(tier);
    while (!is_ending(tier) && work_once(tier))
        has_worked = true;
    tier_unlock(tier);
    return has_worked;
}

/* ---- the end ---- */

/* Returns the first lease that is not lost, and marks it as lost. NULL: there is none. */
static const struct lease *take_last(struct tier *tier, uint64_t *time_ms)
{
    tier_lock(tier);
    struct lease *lease = tier->leases.first;
    while (lease != NULL && lease->is_lost)
        lease = lease->next;
    if (lease != NULL) {
        lease->is_lost = true;
        *time_ms = pointless_ms(lease);
    }
    tier_unlock(tier);
    return lease;
}

/* Other machines then need not wait until the leases run out. All these requests together have the time of one. */
void leases_end_all(struct tier *tier)
{
    const struct lease_transport_ops *ops = tier->transport.ops->leases;
    struct request request = tier_make_request(tier);
    uint64_t time_ms = 0;
    const uint64_t began_ns = clock_now_ns();
    const struct lease *last = take_last(tier, &time_ms);
    if (last == NULL || tier_allow(tier, &request, began_ns) != TIER_PASS)
        return;
    request.is_ended = NULL; /* otherwise, the requests would end immediately, because the tier is being closed */
    if (request.deadline_ns > began_ns + FINAL_NS)
        request.deadline_ns = began_ns + FINAL_NS;
    enum outcome outcome = OUTCOME_DONE;
    do {
        outcome = ops->end(tier->transport.self, &request, last->key, last->token, time_ms);
        last = take_last(tier, &time_ms);
    } while ((outcome == OUTCOME_DONE || outcome == OUTCOME_MISSING) && last != NULL);
    const uint64_t now_ns = clock_now_ns();
    if (now_ns - began_ns > tier_fair_miss_ns(tier))
        tier_lose(tier, began_ns, now_ns);
}
