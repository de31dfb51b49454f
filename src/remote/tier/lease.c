/*
 * lease.c - takes leases from the server; see leases.h.
 *
 * A request for a lease is made like a load: in the application's thread, with a load's deadline, and only while the
 * breaker is closed. If anything fails, the caller compiles without a lease.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "remote/base/clock.h"
#include "remote/guard/lease_watch.h"
#include "remote/object/envelope.h"
#include "remote/object/object_key.h"
#include "remote/tier/leases.h"
#include "remote/tier/load.h"
#include "remote/tier/tier.h"
#include "remote/tier/worker.h"
#include "util/hex.h"

#define OFF_NS (60 * CLOCK_NS_PER_S)
#define REASON_CAPACITY 512u
#define TOKEN_BYTES 16u

/* Makes a random token. Returns false if the kernel's random generator is not ready yet. */
static bool draw_token(char token[LEASE_TOKEN_CAPACITY])
{
    uint8_t bytes[TOKEN_BYTES];
    if (getrandom(bytes, sizeof(bytes), GRND_NONBLOCK) != (ssize_t)sizeof(bytes))
        return false;
    hex_put(token, sizeof(bytes), bytes);
    token[LEASE_TOKEN_CAPACITY - 1] = '\0';
    return true;
}

/* Requests no leases for a while. Loads and uploads continue, because a server may allow them but forbid scripts. */
static void turn_off(struct tier *tier, const char *why)
{
    char reason[REASON_CAPACITY];
    atomic_store_explicit(&tier->leases.off_until_ns, clock_now_ns() + OFF_NS, memory_order_relaxed);
    (void)snprintf(reason, sizeof(reason),
                   "the remote tier's server gives no leases, so several machines may compile the same program: %s",
                   why);
    tier_tell(tier, INGOT_IO_ERROR, 0, reason);
}

/* The lease for which this thread waits. A thread waits for one lease at a time. */
static _Thread_local struct lease_watch watch;
_Static_assert(LEASE_WATCH_KEY_CAPACITY >= OBJECT_KEY_CAPACITY, "a watch has room for a key");

/* Counts a wait that ended without a lease or a program as lost. */
static void count_wait_as_lost(struct tier *tier, uint64_t until_ns)
{
    watch.is_waiting = false;
    tier_lose(tier, watch.began_ns, until_ns);
}

static ingot_lease_answer_t note_busy(struct tier *tier, const char *key, uint64_t left_ms, uint64_t now_ns)
{
    TIER_COUNT(tier, busy_leases, 1);
    if (lease_watch_is_other(&watch, key, now_ns))
        count_wait_as_lost(tier, watch.seen_ns);
    switch (lease_watch_note(&watch, key, left_ms, tier->lease_time_ms, now_ns)) {
    case LEASE_WATCH_WORKS: return INGOT_LEASE_WORKING;
    case LEASE_WATCH_UNKNOWN: return INGOT_LEASE_BUSY;
    case LEASE_WATCH_NO_END: break;
    }
    count_wait_as_lost(tier, now_ns);
    turn_off(tier, "its leases do not run out");
    return INGOT_LEASE_NONE;
}

static ingot_lease_answer_t answer_of(struct tier *tier, const char *key, enum lease_answer answer, uint64_t left_ms)
{
    if (answer == LEASE_IS_BUSY)
        return note_busy(tier, key, left_ms, clock_now_ns());
    if (watch.is_waiting && lease_watch_is_other(&watch, key, clock_now_ns()))
        count_wait_as_lost(tier, watch.seen_ns);
    watch.is_waiting = false;
    switch (answer) {
    case LEASE_IS_TAKEN: TIER_COUNT(tier, leases, 1); return INGOT_LEASE_TAKEN;
    case LEASE_IS_STORED: return INGOT_LEASE_STORED;
    case LEASE_IS_BUSY:
    case LEASE_IS_POINTLESS: break;
    }
    return INGOT_LEASE_NONE;
}

static ingot_lease_answer_t ask_for_lease(struct tier *tier, struct request *request, struct lease *lease,
                                          bool is_blob_useless)
{
    enum lease_answer answer = LEASE_IS_BUSY;
    uint64_t left_ms = LEASE_TIME_UNKNOWN;
    const uint64_t began_ns = clock_now_ns();
    const enum outcome outcome =
        tier->transport.ops->leases->take(tier->transport.self, request, lease->key, lease->token, tier->lease_time_ms,
                                          is_blob_useless, &answer, &left_ms);
    tier_leave(tier, 1);
    const bool is_off = outcome == OUTCOME_REFUSED || outcome == OUTCOME_BAD_ANSWER;
    if (is_off)
        tier_settle(tier, BREAKER_WORKS, 0, began_ns, clock_now_ns(), "");
    else
        tier_settle_outcome(tier, outcome, began_ns, clock_now_ns(), request->failure);
    if (is_off)
        turn_off(tier, request->failure);
    const ingot_lease_answer_t given =
        outcome == OUTCOME_DONE ? answer_of(tier, lease->key, answer, left_ms) : INGOT_LEASE_NONE;
    if (given == INGOT_LEASE_TAKEN)
        leases_add(tier, lease, began_ns);
    else
        free(lease);
    return given;
}

/* Makes a lease that is not in the list yet. Returns NULL if there is no memory for it, no thread to renew it, or no
 * random number. */
static struct lease *make_lease(struct tier *tier, const char *key)
{
    struct lease *lease = worker_ensure(tier) ? calloc(1, sizeof(*lease)) : NULL;
    if (lease != NULL && !draw_token(lease->token)) {
        free(lease);
        return NULL;
    }
    if (lease != NULL)
        memcpy(lease->key, key, sizeof(lease->key));
    return lease;
}

static ingot_lease_answer_t take_tier_lease(struct tier *tier, size_t id_size, const uint8_t *id, bool is_blob_useless,
                                            void **lease)
{
    char key[OBJECT_KEY_CAPACITY];
    struct request request = tier_make_request(tier);
    const uint64_t now_ns = clock_now_ns();
    if (now_ns < atomic_load_explicit(&tier->leases.off_until_ns, memory_order_relaxed) ||
        tier_admit(tier, &request, now_ns) != TIER_PASS)
        return INGOT_LEASE_NONE;
    tier_end_with_pause(&request);
    object_key_of(tier->name_space, id_size, id, key);
    struct lease *made = make_lease(tier, key);
    if (made == NULL) {
        tier_leave(tier, 1);
        turn_off(tier, "no memory, thread or random number for a lease");
        return INGOT_LEASE_NONE;
    }
    const ingot_lease_answer_t answer = ask_for_lease(tier, &request, made, is_blob_useless);
    if (answer == INGOT_LEASE_TAKEN)
        *lease = made;
    return answer;
}

ingot_lease_answer_t tier_take_lease(void *self, size_t id_size, const uint8_t *id, int is_blob_useless, void **lease)
{
    struct tier *tier = self;
    if (id_size > ENVELOPE_MAX_ID_SIZE)
        return INGOT_LEASE_NONE;
    return take_tier_lease(tier, id_size, id, is_blob_useless != 0, lease);
}
