/*
 * breaker.h - a circuit breaker: stops asking a server that fails, and finds out when it works again.
 *
 *   closed --failure--> open --the pause is over--> half open, one probe --it succeeds--> closed
 *                       open <--it fails, and the next pause is twice as long--
 *
 * Only a closed breaker lets the application's requests pass. The probe is made by the storage's own thread, so it
 * costs the application nothing. The first request that succeeds after a probe makes the next pause short again. A
 * probe alone does not, because a server may answer probes and fail all other requests.
 *
 * Not for several threads at once. The caller passes the time.
 */
#ifndef INGOT_REMOTE_GUARD_BREAKER_H
#define INGOT_REMOTE_GUARD_BREAKER_H

#include <stdbool.h>
#include <stdint.h>

enum breaker_state { BREAKER_CLOSED, BREAKER_OPEN, BREAKER_HALF_OPEN };

/* What a request showed about the server. */
enum breaker_finding {
    BREAKER_WORKS,
    BREAKER_DOUBTFUL, /* a bad object or answer: several in a row open the breaker */
    BREAKER_FAILS,    /* opens the breaker at once */
};

struct breaker {
    uint64_t shortest_pause_ns;
    uint64_t longest_pause_ns;
    enum breaker_state state;
    unsigned doubt_count; /* in a row */
    uint64_t pause_ns;    /* the next pause, without the random part */
    uint64_t probe_at_ns; /* if open */
    uint64_t random;      /* state of a generator: not all processes of a fleet should probe at once */
};

/* seed: differs between processes. */
void breaker_init(struct breaker *breaker, uint64_t shortest_pause_ns, uint64_t longest_pause_ns, uint64_t seed);
/* Takes the result of a request of the application or an upload. Returns true if it opened the breaker. */
bool breaker_note(struct breaker *breaker, enum breaker_finding finding, uint64_t now_ns);
/* True if a probe is due. The caller then makes it; the breaker is half open until breaker_end_probe. */
bool breaker_begin_probe(struct breaker *breaker, uint64_t now_ns);
/* Returns true if the probe closed the breaker. */
bool breaker_end_probe(struct breaker *breaker, bool has_succeeded, uint64_t now_ns);

#endif
