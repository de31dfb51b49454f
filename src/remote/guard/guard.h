/*
 * guard.h - limits what a process loses to a server that fails: a budget of time, and pauses in which it is not asked.
 * All tiers of the process that have one URL share a guard, which outlives them.
 *
 * A request may take a quarter of the time that is left to lose, so that several can fail before nothing is left. The
 * budget refills within a day, so that a service that runs for months is not cut off from its server permanently. If
 * requests of several threads fail at the same time, their time counts once.
 *
 * A failure begins a pause, in which only a tier's own thread asks the server, at its end, which costs the
 * application nothing. Each pause is twice as long as the one before. A request that succeeds makes the next one short
 * again; an answer to the thread alone does not, because a server may answer that and fail all other requests.
 *
 * Only one thread at a time may use a guard: between guard_lock and guard_unlock, if it is a server's. The caller
 * passes the current time.
 */
#ifndef INGOT_REMOTE_GUARD_GUARD_H
#define INGOT_REMOTE_GUARD_GUARD_H

#include <stdbool.h>
#include <stdint.h>

/* Pauses that grow. */
struct pauses {
    uint64_t shortest_ns;
    uint64_t longest_ns;
    uint64_t next_ns;  /* the next pause, without its random part */
    uint64_t until_ns; /* when the pause ends; 0: there is none */
    uint64_t random;   /* state of a random generator, so that the processes of a fleet do not all ask at once */
};

/* seed: differs between processes. */
void pauses_init(struct pauses *pauses, uint64_t shortest_ns, uint64_t longest_ns, uint64_t seed);
void pauses_begin(struct pauses *pauses, uint64_t now_ns);
/* Notes a success, after which the next pause is short again. */
void pauses_end(struct pauses *pauses);

/* What a request showed about the server. */
enum guard_finding {
    GUARD_WORKS,
    GUARD_DOUBTFUL, /* a bad object or answer; three in a row begin a pause */
    GUARD_FAILS,    /* begins a pause */
};

struct guard {
    struct pauses pauses;
    unsigned doubts;   /* doubtful findings in a row */
    uint64_t whole_ns; /* UINT64_MAX: no limit */
    uint64_t lost_ns;
    uint64_t refilled_at_ns;
    uint64_t counted_until_ns;
    uint64_t total_ns;    /* lost since the beginning, for the statistics */
    uint64_t pause_count; /* likewise */
};

/* whole_ns: the time that may be lost; UINT64_MAX: no limit. */
void guard_init(struct guard *guard, uint64_t whole_ns, uint64_t now_ns);
/* True if the server is not asked now. */
static inline bool guard_is_paused(const struct guard *guard)
{
    return guard->pauses.until_ns != 0;
}
/* Returns how long a request that begins now may take; 0: too little time is left. */
uint64_t guard_allowance(struct guard *guard, uint64_t now_ns);
/* Records that a request lost the time between the two moments. Returns how much of it no other request has lost. */
uint64_t guard_lose(struct guard *guard, uint64_t from_ns, uint64_t until_ns);
/* Records what a request of the application showed. Returns true if that began a pause. */
bool guard_note(struct guard *guard, enum guard_finding finding, uint64_t now_ns);
/* If the time of a pause is over, begins the next one and returns true: the caller asks the server. */
bool guard_begin_probe(struct guard *guard, uint64_t now_ns);
/* Ends the pause, because the server has answered. */
void guard_end_pause(struct guard *guard);

/* Lock and unlock the guards of all servers, for a few instructions. */
void guard_lock(void);
void guard_unlock(void);
/* Returns the guard of a server, or NULL if memory runs out. The limits of the last call hold. */
struct guard *guard_of_server(const char *url, uint64_t whole_ns, uint64_t shortest_ns, uint64_t longest_ns);

#endif
