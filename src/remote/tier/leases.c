/*
 * leases.c - takes, extends and ends a tier's leases. Of all machines that share a server, only the one that holds a
 * program's lease compiles the program.
 *
 * A request for a lease is made like a load: in the application's thread, with a load's deadline, and only while the
 * server is asked. If anything fails, the caller compiles without a lease. Waiting for another machine costs no budget:
 * only a request that fails, or takes long, does.
 *
 * A lease is extended after each third of its time, so that one lost request does not end it. If the process dies or is
 * stopped, nobody extends its leases, and they run out. A lease is ended only after the upload of its program, because
 * machines that wait for the lease expect to find the object when it ends.
 */
#include <ingot/backend.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "remote/object/envelope.h"
#include "remote/tier/tier.h"
#include "util/hex.h"
#include "util/nanoseconds.h"

#define POINTLESS_MS 60000u
#define PARTS 3u
#define TOKEN_BYTES 16u

/* Only the tier's thread removes leases, so a lease stays valid while that thread works without the lock. */
struct lease {
    struct lease *next;     /* the lock guards all fields before the key */
    bool is_ended;          /* the holder has ended the lease */
    bool may_others_take;   /* valid if the lease is ended */
    bool has_upload;        /* the program's blob was queued */
    bool has_upload_failed; /* and the uploads of other machines probably would fail, too */
    uint64_t extend_at_ns;
    uint64_t runs_out_at_ns; /* only the thread uses this and the next field */
    bool is_lost;            /* an event has reported that the lease ran out, or that the server lacks it */
    char key[OBJECT_KEY_CAPACITY];
    char token[LEASE_TOKEN_CAPACITY];
};

/* ---- taking ---- */

/* Makes a lease with a random token. Returns NULL if there is no memory for it, no thread to extend it, or no random
 * number yet. */
static struct lease *make_lease(struct tier *tier, const char *key)
{
    uint8_t bytes[TOKEN_BYTES];
    struct lease *lease =
        getrandom(bytes, sizeof(bytes), GRND_NONBLOCK) == (ssize_t)sizeof(bytes) ? calloc(1, sizeof(*lease)) : NULL;
    if (lease == NULL)
        return NULL;
    memcpy(lease->key, key, sizeof(lease->key));
    hex_put(lease->token, sizeof(bytes), bytes);
    lease->extend_at_ns = nanoseconds_now() + tier->lease_time_ms * NS_PER_MS / PARTS;
    lease->runs_out_at_ns = nanoseconds_now() + tier->lease_time_ms * NS_PER_MS;
    return lease;
}

/* Reads the lease that another machine has, and takes it if it is free. An object may have been stored before that. */
static enum outcome ask_for_lease(struct tier *tier, struct request *request, const struct lease *lease,
                                  ingot_lease_answer_t *answer)
{
    const struct transport_ops *ops = tier->transport.ops;
    void *self = tier->transport.self;
    char token[LEASE_TOKEN_CAPACITY] = "";
    enum outcome outcome = ops->read_lease(self, request, lease->key, token);
    if (outcome == OUTCOME_DONE) {
        *answer = strcmp(token, LEASE_POINTLESS) == 0 ? INGOT_LEASE_NONE : INGOT_LEASE_BUSY;
        return outcome;
    }
    if (outcome == OUTCOME_MISSING)
        outcome = ops->take_lease(self, request, lease->key, lease->token, tier->lease_time_ms);
    if (outcome == OUTCOME_MISSING) {
        /* another machine was faster, and may have ended its lease, or the answer to this one's command was lost */
        outcome = ops->read_lease(self, request, lease->key, token);
        if (outcome == OUTCOME_MISSING || (outcome == OUTCOME_DONE && strcmp(token, lease->token) != 0)) {
            *answer = INGOT_LEASE_BUSY;
            return outcome;
        }
    }
    if (outcome != OUTCOME_DONE)
        return outcome;
    *answer = INGOT_LEASE_TAKEN;
    outcome = ops->has(self, request, lease->key);
    if (outcome == OUTCOME_DONE) {
        *answer = INGOT_LEASE_STORED;
        return ops->end_lease(self, request, lease->key, 0);
    }
    return outcome == OUTCOME_REFUSED ? OUTCOME_MISSING : outcome; /* this client may not ask */
}

/* Removes and frees a lease. */
static void drop_lease(struct tier *tier, struct lease *lease)
{
    tier_lock(tier);
    struct lease **at = &tier->leases;
    while (*at != lease)
        at = &(*at)->next;
    *at = lease->next;
    tier_wake(tier); /* a thread may wait for that */
    tier_unlock(tier);
    free(lease);
}

ingot_lease_answer_t tier_take_lease(void *self, size_t id_size, const uint8_t *id, void **lease)
{
    struct tier *tier = self;
    char key[OBJECT_KEY_CAPACITY];
    struct request request;
    ingot_lease_answer_t answer = INGOT_LEASE_NONE;
    tier_lock(tier);
    const bool is_off = tier_pauses_uploads(tier); /* others would wait for a blob that never arrives */
    tier_unlock(tier);
    if (id_size > ENVELOPE_MAX_ID_SIZE || is_off || tier_admit(tier, &request) != INGOT_SUCCESS)
        return INGOT_LEASE_NONE;
    object_key_of(tier->name_space, id_size, id, key);
    struct lease *made = make_lease(tier, key);
    if (made == NULL)
        return INGOT_LEASE_NONE;
    const enum outcome outcome = ask_for_lease(tier, &request, made, &answer);
    const bool is_refused = outcome == OUTCOME_REFUSED;
    tier_settle_outcome(tier, &request, is_refused ? OUTCOME_DONE : outcome);
    if (is_refused) /* the server may allow loads alone */
        tier_note_upload(tier, false, request.failure);
    if (answer == INGOT_LEASE_BUSY)
        TIER_COUNT(tier, busy_leases, 1);
    if (answer != INGOT_LEASE_TAKEN) {
        free(made);
        return answer;
    }
    tier_lock(tier);
    made->next = tier->leases;
    tier->leases = made;
    tier_wake(tier);
    tier_unlock(tier);
    TIER_COUNT(tier, leases, 1);
    if (!tier_need_thread(tier)) { /* no thread can extend the lease, so it runs out */
        drop_lease(tier, made);
        return INGOT_LEASE_NONE;
    }
    *lease = made;
    return INGOT_LEASE_TAKEN;
}

/* ---- holding ---- */

/* Makes the tier's thread end a lease. */
void tier_end_lease(void *self, void *lease, int may_others_take)
{
    struct tier *tier = self;
    struct lease *ended = lease;
    tier_lock(tier);
    ended->is_ended = true;
    ended->may_others_take = may_others_take != 0;
    tier_wake(tier);
    tier_unlock(tier);
}

void leases_note_upload(struct tier *tier, const char *key, bool has_failed)
{
    for (struct lease *lease = tier->leases; lease != NULL; lease = lease->next) {
        if (strcmp(lease->key, key) != 0)
            continue;
        lease->has_upload = true;
        lease->has_upload_failed = has_failed;
    }
}

void leases_fini(struct tier *tier)
{
    while (tier->leases != NULL) {
        struct lease *lease = tier->leases;
        tier->leases = lease->next;
        free(lease);
    }
}

/* ---- what the thread does ---- */

/* True if the lease can be ended on the server: its holder has ended it, and the upload of its program is over.
 * Requires the lock. */
static bool is_to_end(const struct tier *tier, const struct lease *lease)
{
    return lease->is_ended && uploads_newest(tier, lease->key) == NULL;
}

bool leases_are_ending(const struct tier *tier)
{
    const struct lease *lease = tier->leases;
    while (lease != NULL && !lease->is_ended)
        lease = lease->next;
    return lease != NULL;
}

uint64_t leases_due_ns(const struct tier *tier)
{
    uint64_t due_ns = NS_NEVER;
    for (const struct lease *lease = tier->leases; lease != NULL; lease = lease->next) {
        const uint64_t own_ns = is_to_end(tier, lease) ? 0 : lease->extend_at_ns;
        due_ns = own_ns < due_ns ? own_ns : due_ns;
    }
    return due_ns;
}

/* Extends a lease on the server, or ends it, unless another machine has it. The comparison and the change are two
 * commands; if the lease changes hands between them, two machines compile. A lease that cannot be ended runs out. */
static void renew_lease(struct tier *tier, struct lease *lease, bool is_end, bool is_pointless)
{
    const struct transport_ops *ops = tier->transport.ops;
    void *self = tier->transport.self;
    struct request request = tier_make_request(tier);
    char token[LEASE_TOKEN_CAPACITY] = "";
    enum outcome outcome = ops->read_lease(self, &request, lease->key, token);
    if (outcome == OUTCOME_DONE && strcmp(token, lease->token) != 0)
        outcome = OUTCOME_MISSING;
    if (is_end) {
        if (outcome == OUTCOME_DONE)
            (void)ops->end_lease(self, &request, lease->key, is_pointless ? POINTLESS_MS : 0);
        drop_lease(tier, lease);
        return;
    }
    if (outcome == OUTCOME_DONE)
        outcome = ops->extend_lease(self, &request, lease->key, tier->lease_time_ms);
    if (outcome == OUTCOME_DONE)
        lease->runs_out_at_ns = request.began_ns + tier->lease_time_ms * NS_PER_MS;
    if ((outcome != OUTCOME_MISSING && nanoseconds_now() < lease->runs_out_at_ns) || lease->is_lost)
        return;
    lease->is_lost = true;
    tier_tell(tier, INGOT_BUSY, 0,
              "the lease of a program that is being compiled was lost: another machine may compile it as well");
    TIER_COUNT(tier, lost_leases, 1); /* after the event, which a reader of the counts may look for */
}

bool leases_work(struct tier *tier)
{
    const uint64_t now_ns = nanoseconds_now();
    tier_lock(tier);
    struct lease *lease = tier->leases;
    while (lease != NULL && !is_to_end(tier, lease) && lease->extend_at_ns > now_ns)
        lease = lease->next;
    const bool is_end = lease != NULL && is_to_end(tier, lease);
    const bool is_pointless = is_end && (lease->has_upload ? lease->has_upload_failed : !lease->may_others_take);
    if (lease != NULL)
        lease->extend_at_ns = now_ns + tier->lease_time_ms * NS_PER_MS / PARTS;
    tier_unlock(tier);
    if (lease != NULL)
        renew_lease(tier, lease, is_end, is_pointless);
    return lease != NULL;
}
