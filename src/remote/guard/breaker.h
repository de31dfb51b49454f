/*
 * breaker.h - a circuit breaker: stops requests to a server that fails, and finds out when the server works again.
 *
 *   closed --failure--> open --the pause is over--> half open, one probe --it succeeds--> closed
 *                       open <--it fails, and the next pause is twice as long--
 *
 * Only a closed breaker lets the application's requests pass. The probe is made by the storage's own thread, so it
 * costs the application nothing. The first request that succeeds after a probe makes the next pause short again. A
 * probe alone does not, because a server may answer probes and fail all other requests.
 *
 * Only one thread at a time may use a breaker. The caller passes the current time.
 */
#ifndef INGOT_REMOTE_GUARD_BREAKER_H
#define INGOT_REMOTE_GUARD_BREAKER_H

#include <stdbool.h>
#include <stdint.h>

enum breaker_state { BREAKER_CLOSED, BREAKER_OPEN, BREAKER_HALF_OPEN };

/* What a request showed about the server. */
enum breaker_finding {
    BREAKER_WORKS,
    BREAKER_ODD,      /* an object that is too large; this concerns one object, unless many come in a row */
    BREAKER_DOUBTFUL, /* a bad object or answer; several of them in a row open the breaker */
    BREAKER_FAILS,    /* opens the breaker immediately */
};

struct breaker {
    uint64_t shortest_pause_ns;
    uint64_t longest_pause_ns;
    enum breaker_state state;
    unsigned doubt;       /* the weight of the odd and doubtful findings that came in a row */
    uint64_t pause_ns;    /* the next pause, without the random part */
    uint64_t probe_at_ns; /* when the next probe is due, if the breaker is open */
    uint64_t random;      /* state of a random generator, so that the processes of a fleet do not all probe at once */
};

/* seed: differs between processes. */
void breaker_init(struct breaker *breaker, uint64_t shortest_pause_ns, uint64_t longest_pause_ns, uint64_t seed);
/* Records the result of an upload or of a request that the application made. Returns true if it opened the breaker. */
bool breaker_note(struct breaker *breaker, enum breaker_finding finding, uint64_t now_ns);
/* Returns true if a probe is due. The caller must then make it; the breaker is half open until breaker_end_probe. */
bool breaker_begin_probe(struct breaker *breaker, uint64_t now_ns);
/* Returns true if the probe closed the breaker. */
bool breaker_end_probe(struct breaker *breaker, bool has_succeeded, uint64_t now_ns);

#endif
