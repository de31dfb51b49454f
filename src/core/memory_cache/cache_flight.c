/*
 * cache_flight.c - lets one thread make the value of a key while others wait; see cache_flight.h.
 */
#include "core/memory_cache/cache_flight.h"

#include "core/memory_cache/cache_groups.h"
#include "util/process_number.h"
#include "util/thread.h"

enum flight_failure flight_failure_of(ingot_status_t status)
{
    switch (status) {
    case INGOT_BUILD_FAILED:
    case INGOT_OUT_OF_MEMORY: /* the leader has already emptied the cache and retried */ return FAILURE_FOR_ALL;
    case INGOT_INVALID_ARGUMENTS:
    case INGOT_DEADLOCK:
    case INGOT_NOT_CACHEABLE:
    case INGOT_BLOB_TRUNCATED:
    case INGOT_BLOB_CORRUPT:
    case INGOT_BLOB_VERSION:
    case INGOT_BLOB_MISMATCH:
    case INGOT_BLOB_STALE:
    case INGOT_BLOB_REJECTED: return FAILURE_OF_LEADER;
    default: return FAILURE_SPURIOUS;
    }
}

struct cache_flight *flight_create(const ingot_allocator_t *allocator)
{
    struct cache_flight *flight = memory_allocate_zeroed(allocator, sizeof(*flight));
    if (flight == NULL)
        return NULL;
    thread_condition_init(&flight->changed);
    flight->references = 1;
    return flight;
}

void flight_destroy(struct cache_flight *flight, const ingot_allocator_t *allocator)
{
    if (flight == NULL)
        return;
    if (flight->entry != NULL)
        cache_entry_release(flight->entry);
    memory_free_text(allocator, flight->detail);
    pthread_cond_destroy(&flight->changed);
    memory_free(allocator, flight, sizeof(*flight));
}

/* In a forked child, removes the parent's flights from the list. Does not free them, because this thread may be the
 * leader of one. */
static void forget_flights_of_parent(struct cache_flights *flights)
{
    if (flights->process != process_number())
        flights->first = NULL;
    flights->process = process_number();
}

struct cache_flight *flights_find(struct cache_flights *flights, const struct memory_cache_ops *ops,
                                  const struct cache_request *request)
{
    forget_flights_of_parent(flights);
    struct cache_flight *flight = flights->first;
    for (; flight != NULL; flight = flight->next) {
        const struct cache_request *other = flight->request;
        if (other->hash.low == request->hash.low && other->hash.high == request->hash.high &&
            other->is_transient == request->is_transient &&
            (ops->same_key == NULL || ops->same_key(other->key, request->key)))
            break;
    }
    return flight;
}

void flights_add(struct cache_flights *flights, struct cache_flight *flight, const struct cache_request *request)
{
    flight->request = request;
    flight->leader = pthread_self();
    flight->next = flights->first;
    flights->first = flight;
}

void flights_discard(struct cache_flights *flights, cache_group_filter filter, const void *wanted)
{
    forget_flights_of_parent(flights);
    for (struct cache_flight *flight = flights->first; flight != NULL; flight = flight->next) {
        const char *own = flight->request->group;
        if (filter == NULL || (group_is_named(own) && filter(own, wanted)))
            flight->discard = true;
    }
}

void flight_wait(struct cache_flight *flight, struct cache_follower *follower, pthread_mutex_t *lock)
{
    struct cache_follower **end = &flight->followers;

    follower->thread = pthread_self();
    follower->is_leader = false;
    follower->next = NULL;
    while (*end != NULL)
        end = &(*end)->next;
    *end = follower;
    ++flight->references;
    while (!flight->landed && !follower->is_leader)
        thread_wait(&flight->changed, lock, NS_NEVER);
}

bool flight_hand_over(struct cache_flight *flight)
{
    struct cache_follower *next = flight->followers;
    if (next == NULL)
        return false;

    flight->followers = next->next;
    next->is_leader = true;
    flight->request = next->request;
    flight->is_second_try = true;
    flight->discard = false;
    flight->leader = next->thread;
    pthread_cond_broadcast(&flight->changed);
    return true;
}

void flight_land(struct cache_flights *flights, struct cache_flight *flight)
{
    struct cache_flight **link = &flights->first;
    while (*link != NULL && *link != flight)
        link = &(*link)->next;
    if (*link != NULL) /* NULL if a forked child has forgotten the flight */
        *link = flight->next;

    flight->landed = true;
    pthread_cond_broadcast(&flight->changed);
}
