/*
 * cache_flight.h - one thread makes the value of a key, and the others wait.
 *
 * Making a value takes seconds, so a second request waits instead of making it again. In a flight, one thread, the
 * pilot, makes the value of a key, and other threads, the passengers, wait for it. If the pilot fails for a reason that
 * may not affect another attempt, one passenger becomes the pilot and tries once more.
 *
 * Threads that wait for each other's flights in a circle would wait forever; flight_may_wait prevents this. A forked
 * child forgets its parent's flights, because their pilots do not exist in the child.
 * Locks: cache->lock guards flights, except for the result and the fields after it, which are written before `landed`
 * is set under the lock and read afterwards. The wait graph has its own lock, for all caches of the process.
 */
#ifndef INGOT_CORE_MEMORY_CACHE_CACHE_FLIGHT_H
#define INGOT_CORE_MEMORY_CACHE_CACHE_FLIGHT_H

#include "core/base/os.h"
#include "core/memory_cache/cache_types.h"
#include "core/memory_cache/wait_graph.h"

struct cache_flight;

struct cache_passenger {
    const struct cache_request *request;
    struct ingot_worker *thread;
    bool is_pilot; /* this passenger became the pilot, and tries once more */
    struct cache_passenger *next;
};

struct cache_flight {
    const struct cache_request *request; /* the pilot's */
    ingot_work_t making;                 /* the pilot's work in the wait graph */
    struct cache_flight *next;
    struct cache_passenger *passengers; /* those that still wait, in the order of arrival */
    os_condition changed;
    size_t references; /* the pilot's and the passengers' */
    bool is_second_try;
    bool discard; /* the cache was cleared or closed during the flight, so the result is not kept */
    bool landed;

    ingot_status_t result;
    struct cache_entry *entry; /* one reference; NULL if no thread waited, or on failure */
    char *detail;              /* a failure's sentence; NULL: there was no memory for it */
    int64_t code;              /* a failure's code, as ingot_last_error_code returns it */
};

struct cache_flights {
    struct cache_flight *first;
    unsigned process; /* the process whose flights these are; see wait_graph_process */
};

/* How a failure affects the waiting threads. */
enum flight_failure {
    FAILURE_FOR_ALL,  /* caused by the key, or affects everything: all threads get it */
    FAILURE_OF_PILOT, /* caused by the pilot's arguments: each other thread starts over */
    FAILURE_SPURIOUS  /* one other thread tries once more, then all get it */
};
enum flight_failure flight_failure_of(ingot_status_t status);

/* Makes a flight that is not listed yet. Needs no lock. Returns NULL if out of memory. */
struct cache_flight *flight_create(const ingot_allocator_t *allocator);
/* Frees a flight without references. Needs no lock. Does nothing if flight is NULL. */
void flight_destroy(struct cache_flight *flight, const ingot_allocator_t *allocator);

/* This function and all below require the lock. Finds the flight of a key, or NULL. */
struct cache_flight *flights_find(struct cache_flights *flights, const struct memory_cache_ops *ops,
                                  const struct cache_request *request);
void flights_add(struct cache_flights *flights, struct cache_flight *flight, const struct cache_request *request);
/* Discards the results of the current flights for the groups that the filter selects (NULL: all): they will not be
 * kept. */
void flights_discard(struct cache_flights *flights, cache_group_filter filter, const void *wanted);

/* Must be called before flight_wait. Records that the calling thread waits for the flight. Returns
 * INGOT_INVALID_ARGUMENTS, and records nothing, if the wait would never end: the calling thread is the pilot, or the
 * pilot waits, directly or through other threads, for a flight of the calling thread. */
ingot_status_t flight_may_wait(struct cache_flight *flight);
/* Waits, with the lock released, until the flight has landed or the passenger has become its pilot. */
void flight_wait(struct cache_flight *flight, struct cache_passenger *passenger, os_mutex *lock);
/* Makes the first passenger the pilot. Returns false if there is none. */
bool flight_hand_over(struct cache_flight *flight);
/* Removes the flight, whose result is set, from the list and wakes the waiting threads. */
void flight_land(struct cache_flights *flights, struct cache_flight *flight);

#endif
