/*
 * cache_flight.h - lets one thread make the value of a key while the other threads that request it wait.
 *
 * Making a value takes seconds, so a second request waits instead of making it again. In a flight, one thread, the
 * leader, makes the value of a key, and other threads, the followers, wait for it. If the leader fails for a reason
 * that may not affect another attempt, one follower becomes the leader and tries once more.
 *
 * A thread that requested what it is making would wait forever, so it is refused. Makers that wait for each other are
 * not detected. A forked child forgets its parent's flights, because their leaders do not exist in the child. Locks:
 * cache->lock guards flights, except for `result` and the fields after it. These are written before `landed` is set
 * under the lock, and are read afterwards.
 */
#ifndef INGOT_CORE_MEMORY_CACHE_CACHE_FLIGHT_H
#define INGOT_CORE_MEMORY_CACHE_CACHE_FLIGHT_H

#include <pthread.h>

#include "core/memory_cache/cache_types.h"

struct cache_flight;

struct cache_follower {
    const struct cache_request *request;
    pthread_t thread;
    bool is_leader; /* true if this follower has become the leader, to try once more */
    struct cache_follower *next;
};

struct cache_flight {
    const struct cache_request *request; /* the leader's request */
    pthread_t leader;
    struct cache_flight *next;
    struct cache_follower *followers; /* the threads that still wait, in the order of their arrival */
    pthread_cond_t changed;
    size_t references; /* one for the leader, and one for each follower */
    bool is_second_try;
    bool discard; /* true if the cache was cleared or closed during the flight, so that the result is not kept */
    bool landed;

    ingot_status_t result;
    struct cache_entry *entry; /* holds a reference; NULL if no thread waited, or on failure */
    char *detail;              /* a failure's error message; NULL if there was no memory for it */
    int64_t code;              /* a failure's code, as ingot_last_error_code returns it */
};

struct cache_flights {
    struct cache_flight *first;
    unsigned long process; /* the number of the process that made this list; a forked child forgets the list */
};

/* Which of the waiting threads a failure affects. */
enum flight_failure {
    FAILURE_FOR_ALL,   /* caused by the key, or by a problem of the whole process: all threads get it */
    FAILURE_OF_LEADER, /* caused by the leader's own arguments: each waiting thread starts over */
    FAILURE_SPURIOUS   /* perhaps temporary: one waiting thread tries once more; if that fails too, the others get
                        * that failure */
};
enum flight_failure flight_failure_of(ingot_status_t status);

/* Makes a flight that is not in a list yet. Needs no lock. Returns NULL if out of memory. */
struct cache_flight *flight_create(const ingot_allocator_t *allocator);
/* Frees a flight without references. Needs no lock. Does nothing if flight is NULL. */
void flight_destroy(struct cache_flight *flight, const ingot_allocator_t *allocator);

/* This function and all that follow require cache->lock. Returns the flight of the request's key, or NULL. */
struct cache_flight *flights_find(struct cache_flights *flights, const struct memory_cache_ops *ops,
                                  const struct cache_request *request);
void flights_add(struct cache_flights *flights, struct cache_flight *flight, const struct cache_request *request);
/* Marks the current flights whose groups the filter selects (NULL: all flights), so that their results are not kept. */
void flights_discard(struct cache_flights *flights, cache_group_filter filter, const void *wanted);

/* Waits, with the lock released, until the flight has landed or the follower has become its leader. */
void flight_wait(struct cache_flight *flight, struct cache_follower *follower, pthread_mutex_t *lock);
/* Makes the follower that arrived first the leader. Returns false if there are no followers. */
bool flight_hand_over(struct cache_flight *flight);
/* Ends a flight whose result is set: removes the flight from the list, and wakes the waiting threads. */
void flight_land(struct cache_flights *flights, struct cache_flight *flight);

#endif
