/*
 * guard.c - limits what a process loses to a server that fails; see guard.h.
 */
#include "remote/guard/guard.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "util/nanoseconds.h"

#define REFILL_NS (UINT64_C(86400) * NS_PER_SECOND)
#define QUARTER 4u
#define LEAST_ALLOWANCE_NS (50 * NS_PER_MS)
#define RESERVE 10u /* a tenth of the budget is for what a busy processor adds to waits */
#define MOST_DOUBTS 3u

/* ---- pauses ---- */

void pauses_init(struct pauses *pauses, uint64_t shortest_ns, uint64_t longest_ns, uint64_t seed)
{
    *pauses = (struct pauses){.shortest_ns = shortest_ns,
                              .longest_ns = longest_ns > shortest_ns ? longest_ns : shortest_ns,
                              .next_ns = shortest_ns,
                              .random = seed | 1};
}

/* Lengthens the pause at random by up to a quarter. */
void pauses_begin(struct pauses *pauses, uint64_t now_ns)
{
    pauses->random ^= pauses->random << 13; /* xorshift64 */
    pauses->random ^= pauses->random >> 7;
    pauses->random ^= pauses->random << 17;
    pauses->until_ns = now_ns + pauses->next_ns + pauses->random % (pauses->next_ns / 4 + 1);
    pauses->next_ns = pauses->next_ns > pauses->longest_ns / 2 ? pauses->longest_ns : pauses->next_ns * 2;
}

void pauses_end(struct pauses *pauses)
{
    pauses->until_ns = 0;
    pauses->next_ns = pauses->shortest_ns;
}

/* ---- the guard ---- */

void guard_init(struct guard *guard, uint64_t whole_ns, uint64_t now_ns)
{
    *guard = (struct guard){.whole_ns = whole_ns, .refilled_at_ns = now_ns};
}

uint64_t guard_allowance(struct guard *guard, uint64_t now_ns)
{
    if (guard->whole_ns == UINT64_MAX)
        return UINT64_MAX;
    const uint64_t elapsed_ns = now_ns > guard->refilled_at_ns ? now_ns - guard->refilled_at_ns : 0;
    const double refilled = (double)elapsed_ns / (double)REFILL_NS * (double)guard->whole_ns;
    if (refilled >= (double)NS_PER_MS) { /* otherwise, refilled_at_ns stays, so that short times add up */
        guard->refilled_at_ns = now_ns;
        guard->lost_ns = refilled < (double)guard->lost_ns ? guard->lost_ns - (uint64_t)refilled : 0;
    }
    const uint64_t usable_ns = guard->whole_ns - guard->whole_ns / RESERVE;
    const uint64_t left_ns = guard->lost_ns < usable_ns ? usable_ns - guard->lost_ns : 0;
    if (left_ns < LEAST_ALLOWANCE_NS)
        return 0;
    return left_ns / QUARTER < LEAST_ALLOWANCE_NS ? LEAST_ALLOWANCE_NS : left_ns / QUARTER;
}

uint64_t guard_lose(struct guard *guard, uint64_t from_ns, uint64_t until_ns)
{
    const uint64_t begin_ns = from_ns > guard->counted_until_ns ? from_ns : guard->counted_until_ns;
    if (until_ns <= begin_ns)
        return 0;
    guard->lost_ns += until_ns - begin_ns;
    guard->total_ns += until_ns - begin_ns;
    guard->counted_until_ns = until_ns;
    return until_ns - begin_ns;
}

bool guard_note(struct guard *guard, enum guard_finding finding, uint64_t now_ns)
{
    if (guard_is_paused(guard))
        return false; /* the request began before the pause */
    if (finding == GUARD_WORKS) {
        guard->doubts = 0;
        pauses_end(&guard->pauses);
        return false;
    }
    if (finding == GUARD_DOUBTFUL && ++guard->doubts < MOST_DOUBTS)
        return false;
    guard->doubts = 0;
    ++guard->pause_count;
    pauses_begin(&guard->pauses, now_ns);
    return true;
}

bool guard_begin_probe(struct guard *guard, uint64_t now_ns)
{
    const bool is_due = guard_is_paused(guard) && guard->pauses.until_ns <= now_ns;
    if (is_due)
        pauses_begin(&guard->pauses, now_ns);
    return is_due;
}

void guard_end_pause(struct guard *guard)
{
    guard->pauses.until_ns = 0;
}

/* ---- servers ---- */

struct guarded_server {
    struct guarded_server *next;
    struct guard guard;
    char url[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct guarded_server *servers; /* guarded by `lock`; never freed */

/* Called in a forked child, which keeps what the parent knew. */
static void renew_guard_lock(void)
{
    (void)pthread_mutex_init(&lock, NULL);
}

static void watch_forks_for_guards(void)
{
    (void)pthread_atfork(NULL, NULL, renew_guard_lock);
}

void guard_lock(void)
{
    (void)pthread_mutex_lock(&lock);
}

void guard_unlock(void)
{
    (void)pthread_mutex_unlock(&lock);
}

struct guard *guard_of_server(const char *url, uint64_t whole_ns, uint64_t shortest_ns, uint64_t longest_ns)
{
    static pthread_once_t watched = PTHREAD_ONCE_INIT;
    const uint64_t now_ns = nanoseconds_now();
    (void)pthread_once(&watched, watch_forks_for_guards);
    guard_lock();
    struct guarded_server *found = servers;
    while (found != NULL && strcmp(found->url, url) != 0)
        found = found->next;
    if (found == NULL && (found = malloc(sizeof(*found) + strlen(url) + 1)) != NULL) {
        (void)strcpy(found->url, url);
        guard_init(&found->guard, whole_ns, now_ns);
        pauses_init(&found->guard.pauses, shortest_ns, longest_ns, now_ns ^ (uintptr_t)found);
        found->next = servers;
        servers = found;
    } else if (found != NULL) {
        struct pauses *pauses = &found->guard.pauses;
        const struct pauses earlier = *pauses;
        pauses_init(pauses, shortest_ns, longest_ns, earlier.random);
        pauses->until_ns = earlier.until_ns;
        if (earlier.next_ns > shortest_ns)
            pauses->next_ns = earlier.next_ns < pauses->longest_ns ? earlier.next_ns : pauses->longest_ns;
        found->guard.whole_ns = whole_ns;
    }
    guard_unlock();
    return found != NULL ? &found->guard : NULL;
}
