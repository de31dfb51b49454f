/*
 * lease_watch.h - watches the lease for which a thread waits, to tell a holder that works from a server whose leases do
 * not end.
 *
 * The rest of a lease's time gets shorter until the holder renews the lease, which it does about three times in this
 * time. A wait is worth its time while this is so, however long the holder compiles. A lease that never ends, or whose
 * rest never gets shorter, shows that the server does not manage leases.
 */
#ifndef INGOT_REMOTE_GUARD_LEASE_WATCH_H
#define INGOT_REMOTE_GUARD_LEASE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#define LEASE_WATCH_KEY_CAPACITY 65u

struct lease_watch {
    bool is_waiting; /* the last request found the lease taken */
    char key[LEASE_WATCH_KEY_CAPACITY];
    uint64_t began_ns;  /* this field and the following ones are valid if is_waiting */
    uint64_t seen_ns;   /* when the last request found the lease taken */
    uint64_t anchor_ns; /* when the rest of the time was `left_ns` */
    uint64_t left_ns;
    unsigned quick_count; /* renewals in a row that came too soon after another */
    bool is_renewed;
};

enum lease_watch_finding {
    LEASE_WATCH_UNKNOWN, /* nothing is known about the holder */
    LEASE_WATCH_WORKS,   /* the holder has renewed the lease during the wait */
    LEASE_WATCH_NO_END   /* the server's leases do not end */
};

/* True if the watch is of another wait, which must have ended without a result. */
bool lease_watch_is_other(const struct lease_watch *watch, const char *key, uint64_t now_ns);
/* Records that the lease of `key` is taken and lasts for `left_ms`, see struct lease_transport_ops. lease_time_ms: how
 * long the caller's own leases last. */
enum lease_watch_finding lease_watch_note(struct lease_watch *watch, const char *key, uint64_t left_ms,
                                          uint64_t lease_time_ms, uint64_t now_ns);

#endif
