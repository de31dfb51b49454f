/*
 * registry.c - lists the open tiers of this process; see registry.h.
 */
#include "remote/tier/registry.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct tier *tiers; /* guarded by `lock` */

/* Called in a forked child: forgets the parent's tiers. */
static void forget_parent_tiers(void)
{
    pthread_mutex_init(&lock, NULL);
    tiers = NULL;
}

static void watch_forks_for_tiers(void)
{
    (void)pthread_atfork(NULL, NULL, forget_parent_tiers);
}

void registry_add(struct tier *tier, ingot_storage_t storage)
{
    static pthread_once_t watched = PTHREAD_ONCE_INIT;
    (void)pthread_once(&watched, watch_forks_for_tiers);
    pthread_mutex_lock(&lock);
    tier->storage = storage;
    tier->next = tiers;
    tiers = tier;
    pthread_mutex_unlock(&lock);
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
