/*
 * breaker.c - a circuit breaker; see breaker.h.
 */
#include "remote/guard/breaker.h"

/* The weights of findings. The breaker opens when they reach the limit: after 3 doubtful or 12 odd ones in a row. */
#define ODD 1u
#define DOUBTFUL 4u
#define LIMIT 12u

void breaker_init(struct breaker *breaker, uint64_t shortest_pause_ns, uint64_t longest_pause_ns, uint64_t seed)
{
    *breaker = (struct breaker){
        .shortest_pause_ns = shortest_pause_ns,
        .longest_pause_ns = longest_pause_ns > shortest_pause_ns ? longest_pause_ns : shortest_pause_ns,
        .pause_ns = shortest_pause_ns,
        .random = seed | 1,
    };
}

/* Returns a pause, lengthened at random by up to a quarter. */
static uint64_t draw_pause(struct breaker *breaker)
{
    breaker->random ^= breaker->random << 13; /* xorshift64 */
    breaker->random ^= breaker->random >> 7;
    breaker->random ^= breaker->random << 17;
    return breaker->pause_ns + breaker->random % (breaker->pause_ns / 4 + 1);
}

static void open_breaker(struct breaker *breaker, uint64_t now_ns)
{
    breaker->state = BREAKER_OPEN;
    breaker->doubt = 0;
    breaker->probe_at_ns = now_ns + draw_pause(breaker);
    breaker->pause_ns =
        breaker->pause_ns > breaker->longest_pause_ns / 2 ? breaker->longest_pause_ns : breaker->pause_ns * 2;
}

bool breaker_note(struct breaker *breaker, enum breaker_finding finding, uint64_t now_ns)
{
    if (breaker->state != BREAKER_CLOSED)
        return false; /* the request began before the breaker opened */
    if (finding == BREAKER_WORKS) {
        breaker->doubt = 0;
        breaker->pause_ns = breaker->shortest_pause_ns;
        return false;
    }
    if (finding != BREAKER_FAILS) {
        breaker->doubt += finding == BREAKER_ODD ? ODD : DOUBTFUL;
        if (breaker->doubt < LIMIT)
            return false;
    }
    open_breaker(breaker, now_ns);
    return true;
}

bool breaker_begin_probe(struct breaker *breaker, uint64_t now_ns)
{
    if (breaker->state != BREAKER_OPEN || now_ns < breaker->probe_at_ns)
        return false;
    breaker->state = BREAKER_HALF_OPEN;
    return true;
}

bool breaker_end_probe(struct breaker *breaker, bool has_succeeded, uint64_t now_ns)
{
    if (breaker->state != BREAKER_HALF_OPEN)
        return false;
    if (!has_succeeded) {
        open_breaker(breaker, now_ns);
        return false;
    }
    breaker->state = BREAKER_CLOSED;
    return true;
}
