/*
 * lease_watch.c - watches the lease for which a thread waits; see lease_watch.h.
 */
#include "remote/guard/lease_watch.h"

#include <string.h>

#include "remote/base/clock.h"
#include "remote/base/transport.h"

#define LONGEST_GAP_NS (2 * CLOCK_NS_PER_S) /* a thread that waits asks more often */
#define INACCURACY_NS (50 * CLOCK_NS_PER_MS)
#define LEAST_PART 10u /* renewals that follow each other in less than this part of the time come too soon */
#define MOST_QUICK 3u
#define MOST_TIMES 12u /* another machine's leases last at most this many times as long as the caller's */

bool lease_watch_is_other(const struct lease_watch *watch, const char *key, uint64_t now_ns)
{
    return watch->is_waiting && (strcmp(watch->key, key) != 0 || now_ns - watch->seen_ns > LONGEST_GAP_NS);
}

static void begin_lease_watch(struct lease_watch *watch, const char *key, uint64_t left_ns, uint64_t now_ns)
{
    *watch = (struct lease_watch){
        .is_waiting = true, .began_ns = now_ns, .seen_ns = now_ns, .anchor_ns = now_ns, .left_ns = left_ns};
    memcpy(watch->key, key, strlen(key) + 1);
}

/* Compares the rest of the time with what it would be without a renewal. */
static void compare_time_left(struct lease_watch *watch, uint64_t left_ns, uint64_t now_ns)
{
    const uint64_t elapsed_ns = now_ns - watch->anchor_ns;
    const uint64_t expected_ns = watch->left_ns > elapsed_ns ? watch->left_ns - elapsed_ns : 0;
    if (left_ns <= expected_ns + INACCURACY_NS)
        return;
    watch->quick_count = elapsed_ns < left_ns / LEAST_PART ? watch->quick_count + 1 : 0;
    watch->is_renewed = true;
    watch->anchor_ns = now_ns;
    watch->left_ns = left_ns;
}

enum lease_watch_finding lease_watch_note(struct lease_watch *watch, const char *key, uint64_t left_ms,
                                          uint64_t lease_time_ms, uint64_t now_ns)
{
    const bool is_known = left_ms != LEASE_TIME_UNKNOWN && left_ms != LEASE_TIME_NO_END;
    const uint64_t left_ns = is_known ? left_ms * CLOCK_NS_PER_MS : 0;
    if (!watch->is_waiting || lease_watch_is_other(watch, key, now_ns))
        begin_lease_watch(watch, key, left_ns, now_ns);
    else if (is_known)
        compare_time_left(watch, left_ns, now_ns);
    watch->seen_ns = now_ns;
    if (left_ms == LEASE_TIME_UNKNOWN)
        return LEASE_WATCH_UNKNOWN;
    if (left_ms == LEASE_TIME_NO_END || left_ms / MOST_TIMES > lease_time_ms || watch->quick_count >= MOST_QUICK)
        return LEASE_WATCH_NO_END;
    return watch->is_renewed ? LEASE_WATCH_WORKS : LEASE_WATCH_UNKNOWN;
}
