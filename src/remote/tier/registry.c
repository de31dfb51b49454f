/*
 * registry.c - lists the open tiers of this process, and finishes them in exit(); see registry.h.
 *
 * Most processes end without releasing their storages. So a handler that exit() calls uploads the blobs that are still
 * pending, but only for a short time. Other threads may be loading meanwhile. The handler ends their requests, because
 * the libraries that these requests use, such as OpenSSL in libcurl, may free their memory in a handler that runs
 * later. The handlers of persist, which store programs, have already run. They were registered after this one, because
 * a tier is opened before the first program is made, and exit() calls the newest handler first.
 */
#include "remote/tier/registry.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>

#include "remote/base/clock.h"
#include "remote/tier/worker.h"

#define MOST_HANDLERS 16u
/* A request checks every 20 ms whether it must end early. On a busy machine, its thread goes on much later, and exit()
 * waits for it, because the process could crash otherwise. */
#define MOST_WAIT_NS (10 * CLOCK_NS_PER_S)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct tier *tiers; /* `lock` guards this and the next variable */
static unsigned handler_count;
static bool is_watching_forks;

/* Called in a forked child: forgets the parent's tiers. */
static void forget_parent_tiers(void)
{
    pthread_mutex_init(&lock, NULL);
    tiers = NULL;
}

static void watch_forks_for_tiers(void)
{
    is_watching_forks = pthread_atfork(NULL, NULL, forget_parent_tiers) == 0;
}

void tier_finish(struct tier *tier)
{
    const uint64_t now_ns = clock_now_ns();
    tier_lock(tier);
    const bool is_open = tier->breakers[TIER_UPLOADS].state == BREAKER_OPEN;
    const uint64_t time_ns = is_open ? 0 : budget_allowance(&tier->budget, now_ns);
    tier_unlock(tier);
    if (time_ns != 0)
        (void)worker_wait(tier, now_ns + (time_ns < tier->exit_time_ns ? time_ns : tier->exit_time_ns));
    worker_finish(tier);
}

/* Refuses all further requests that callers make. */
static void refuse_requests(void)
{
    pthread_mutex_lock(&lock);
    for (struct tier *tier = tiers; tier != NULL; tier = tier->next)
        atomic_store(&tier->is_in_exit, true);
    pthread_mutex_unlock(&lock);
}

/* Waits until the requests of other threads have ended, until the deadline. */
static void wait_for_requests(const struct tier *tier, uint64_t deadline_ns)
{
    while (tier_is_asked_by_others(tier) && clock_now_ns() < deadline_ns)
        (void)poll(NULL, 0, 1);
}

/* Finishes all tiers. Does not hold the lock while it finishes a tier, because callbacks for the tier's events may call
 * this library. If another thread is releasing a tier, the tier still looks as if it were in use. So an application
 * must not end the process while it releases tiers. */
static void on_exit_of_process(void)
{
    const uint64_t deadline_ns = clock_now_ns() + MOST_WAIT_NS;
    refuse_requests();
    for (;;) {
        pthread_mutex_lock(&lock);
        struct tier *tier = tiers;
        while (tier != NULL && tier->is_ended_by_exit)
            tier = tier->next;
        if (tier != NULL)
            tier->is_ended_by_exit = true;
        pthread_mutex_unlock(&lock);
        if (tier == NULL)
            return;
        tier_finish(tier);
        wait_for_requests(tier, deadline_ns);
    }
}

bool registry_add(struct tier *tier, ingot_storage_t storage)
{
    static pthread_once_t watched = PTHREAD_ONCE_INIT;
    (void)pthread_once(&watched, watch_forks_for_tiers);
    pthread_mutex_lock(&lock);
    /* Registers the handler again for each later tier. A TLS library may have been loaded after the first tier was
     * opened, and a tier must be finished before that library's own handler runs. exit() calls the newest handler
     * first, and the older ones then have nothing left to do. */
    if (is_watching_forks && handler_count < MOST_HANDLERS && atexit(on_exit_of_process) == 0)
        ++handler_count;
    const bool is_added = handler_count != 0;
    if (is_added) {
        tier->storage = storage;
        tier->next = tiers;
        tiers = tier;
    }
    pthread_mutex_unlock(&lock);
    return is_added;
}

void registry_remove(struct tier *tier)
{
    pthread_mutex_lock(&lock);
    for (struct tier **at = &tiers; *at != NULL; at = &(*at)->next) {
        if (*at == tier) {
            *at = tier->next;
            break;
        }
    }
    pthread_mutex_unlock(&lock);
}

struct tier *registry_find(ingot_storage_t storage)
{
    pthread_mutex_lock(&lock);
    struct tier *tier = tiers;
    while (tier != NULL && tier->storage != storage)
        tier = tier->next;
    pthread_mutex_unlock(&lock);
    return tier;
}
