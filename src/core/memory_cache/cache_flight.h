/*
 * cache_flight.h - one maker a key.
 *
 * Making takes seconds, so whoever asks second waits instead of making it again. A flight is one key being made: by its
 * pilot, for those aboard. When a making fails without a reason that would hold for the next one too, one of those
 * aboard becomes the pilot and tries once more.
 *
 * Threads that wait for each other's flights in a ring would wait for ever: see flight_may_wait.
 * Locks: cache->lock guards flights, except for what becomes of one (result and below): written before `landed` is
 * set under the lock, and read after. The wait graph has its own, for all caches of the process.
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
    bool is_pilot; /* it is this one who tries once more */
    struct cache_passenger *next;
};

struct cache_flight {
    const struct cache_request *request; /* the pilot's */
    ingot_work_t making;                 /* the pilot's, in the wait graph */
    struct cache_flight *next;
    struct cache_passenger *passengers; /* in the order of their coming; only those still waiting */
    os_condition changed;
    size_t references; /* the pilot's and the passengers' */
    bool is_second_try;
    bool discard; /* cleared or closed meanwhile: the result is not kept */
    bool landed;

    ingot_status_t result;
    struct cache_entry *entry; /* one reference; NULL where nobody waited, or on failure */
    char *detail;              /* of a failure; NULL: memory was short */
    int64_t code;              /* of a failure; as ingot_last_error_code */
};

struct cache_flights {
    struct cache_flight *first;
};

/* How a failure concerns those who wait. */
enum flight_failure {
    FAILURE_FOR_ALL,  /* the key's fault, or a lack that concerns all: all are told */
    FAILURE_OF_PILOT, /* the fault of what the pilot brought: each of the others starts over */
    FAILURE_SPURIOUS  /* one other tries once more, then all are told */
};
enum flight_failure flight_failure_of(ingot_status_t status);

/* Without a lock. Not listed yet. NULL when out of memory. */
struct cache_flight *flight_create(const ingot_allocator_t *allocator);
/* Without a lock, when nothing refers to it any more. NULL does nothing. */
void flight_destroy(struct cache_flight *flight, const ingot_allocator_t *allocator);

/* Under lock, as are all that follow. */
struct cache_flight *flights_find(const struct cache_flights *flights, const struct memory_cache_ops *ops,
                                  const struct cache_request *request);
void flights_add(struct cache_flights *flights, struct cache_flight *flight, const struct cache_request *request);
/* What is being made for the groups that the filter wants (all for NULL) will not be kept. */
void flights_discard(struct cache_flights *flights, cache_group_filter filter, const void *wanted);

/*
 * Waits, with the lock dropped meanwhile, until the flight has landed or the passenger has become its pilot.
 * INGOT_INVALID_ARGUMENTS: that would be for ever, because the calling thread itself flies it, or its pilot waits, over
 * any number of others, for a flight of the calling thread. Then nothing was changed.
 */
ingot_status_t flight_may_wait(struct cache_flight *flight);
void flight_wait(struct cache_flight *flight, struct cache_passenger *passenger, os_mutex *lock);
/* Makes the first passenger the pilot; false where there is none. */
bool flight_hand_over(struct cache_flight *flight);
/* The result is set. Takes the flight from the list and wakes those who wait. */
void flight_land(struct cache_flights *flights, struct cache_flight *flight);

#endif
