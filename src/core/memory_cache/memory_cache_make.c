/*
 * memory_cache_make.c - handles requests that make an entry if they do not find it.
 *
 * A request finds its entry, waits for another thread's flight (cache_flight.h), or makes the entry itself. If a
 * flight's outcome does not apply to the request, for example because only the pilot failed, the request starts over.
 * No lock is held while a maker runs, while entries are released, or while a thread waits.
 */
#include "core/base/error.h"
#include "core/memory_cache/cache_state.h"
#include "core/memory_cache/memory_cache.h"
#include "util/cancellation.h"

enum boarding { BOARDED_FOUND, BOARDED_AS_PILOT, BOARDED_AS_PASSENGER, BOARDED_REFUSED };

struct voyage {
    struct memory_cache *cache;
    const struct cache_request *request;
    cache_maker maker;
    void *user;
    struct cache_flight *flight;
};

/* Records that this thread is running a maker of a cache. A thread has at most one such record per cache; see
 * memory_cache_make_room. */
struct making {
    const struct memory_cache *cache;
    bool made_room;
    struct making *outer;
};
static _Thread_local struct making *innermost;

static struct making *making_of(const struct memory_cache *cache)
{
    struct making *making = innermost;
    while (making != NULL && making->cache != cache)
        making = making->outer;
    return making;
}

bool memory_cache_make_room(struct memory_cache *cache)
{
    struct making *making = making_of(cache);

    if (making != NULL) {
        if (making->made_room)
            return false;
        making->made_room = true;
    }
    memory_cache_empty(cache);
    return true;
}

static struct cache_flight *create_flight(struct memory_cache *cache)
{
    struct cache_flight *flight = flight_create(&cache->pool.allocator);
    if (flight == NULL) {
        memory_cache_empty(cache);
        flight = flight_create(&cache->pool.allocator);
    }
    return flight;
}

/* Drops a passenger's reference to a flight. The pilot drops its own in fly. */
static void leave_flight(struct memory_cache *cache, struct cache_flight *flight)
{
    os_mutex_lock(&cache->lock);
    const bool is_last = --flight->references == 0;
    os_mutex_unlock(&cache->lock);
    if (is_last)
        flight_destroy(flight, &cache->pool.allocator);
}

/* Finds the request's entry, joins its flight, or begins a flight. For a passenger, returns when the flight is over
 * or the passenger has become the pilot. */
static enum boarding board(struct voyage *voyage, struct cache_entry **entry, ingot_status_t *status)
{
    struct memory_cache *cache = voyage->cache;
    struct cache_flight *spare = create_flight(cache);
    struct cache_passenger passenger = {voyage->request, NULL, false, NULL};
    enum boarding boarding = BOARDED_AS_PILOT;

    *status = INGOT_SUCCESS; /* if an earlier round failed, the failure was another thread's */
    if (spare == NULL) {
        *status = error_out_of_memory();
        return BOARDED_REFUSED;
    }
    os_mutex_lock(&cache->lock);
    *entry = voyage->request->is_transient ? NULL : memory_cache_lookup_locked(cache, voyage->request);
    voyage->flight = *entry == NULL ? flights_find(&cache->flights, &cache->pool.ops, voyage->request) : NULL;
    if (*entry != NULL) {
        boarding = BOARDED_FOUND;
    } else if (voyage->flight == NULL) {
        voyage->flight = spare;
        spare = NULL;
        flights_add(&cache->flights, voyage->flight, voyage->request);
        ++cache->misses;
    } else if ((*status = flight_may_wait(voyage->flight)) != INGOT_SUCCESS) {
        boarding = BOARDED_REFUSED;
    } else {
        ++cache->waits;
        flight_wait(voyage->flight, &passenger, &cache->lock);
        if (passenger.is_pilot)
            ++cache->misses;
        else
            boarding = BOARDED_AS_PASSENGER;
    }
    os_mutex_unlock(&cache->lock);
    flight_destroy(spare, &cache->pool.allocator);
    return boarding;
}

static ingot_status_t run_maker(struct voyage *voyage, struct cache_entry **entry, size_t *bytes)
{
    struct making making = {voyage->cache, false, innermost};
    const bool is_outermost = making_of(voyage->cache) == NULL;
    const int cancellation = cancellation_hold(); /* a canceled thread would leave others waiting */

    if (is_outermost)
        innermost = &making;
    ingot_status_t status = voyage->maker(entry, bytes, voyage->user);
    if (status == INGOT_OUT_OF_MEMORY && memory_cache_make_room(voyage->cache))
        status = voyage->maker(entry, bytes, voyage->user);
    if (is_outermost)
        innermost = making.outer;
    cancellation_allow(cancellation);
    return status;
}

/* Makes the entry as the pilot, and passes the result to the waiting threads. */
static ingot_status_t fly(struct voyage *voyage, struct cache_entry **entry)
{
    struct memory_cache *cache = voyage->cache;
    struct cache_flight *flight = voyage->flight;
    struct cache_victims victims;
    struct cache_entry *made = NULL;
    size_t bytes = 0;
    const ingot_status_t status = run_maker(voyage, &made, &bytes);
    const enum flight_failure failure = flight_failure_of(status);
    char *detail = NULL;
    bool kept = false;

    victims_init(&victims);
    if (status != INGOT_SUCCESS)
        detail = alloc_text(&cache->pool.allocator, ingot_last_error_detail());
    os_mutex_lock(&cache->lock);
    const bool retry = status != INGOT_SUCCESS && failure == FAILURE_SPURIOUS && !flight->is_second_try;
    if (!retry || !flight_hand_over(flight)) {
        /* If another thread has put an entry with this key into the cache meanwhile, that entry stays. */
        if (status == INGOT_SUCCESS && !flight->discard && !voyage->request->is_transient &&
            cache_table_lookup(&cache->table, voyage->request) == NULL)
            kept = memory_cache_keep(cache, voyage->request, made, bytes, NULL, &victims);
        if (status == INGOT_SUCCESS && flight->passengers != NULL) {
            cache_entry_retain(made);
            flight->entry = made;
        }
        flight->result = status;
        flight->detail = detail;
        flight->code = ingot_last_error_code();
        detail = NULL;
        flight_land(&cache->flights, flight);
    }
    const bool is_last = --flight->references == 0;
    os_mutex_unlock(&cache->lock);

    victims_release(&victims, cache, true);
    if (is_last)
        flight_destroy(flight, &cache->pool.allocator);
    alloc_free_text(&cache->pool.allocator, detail);
    if (status == INGOT_SUCCESS) {
        if (kept)
            memory_cache_remember(cache, voyage->request->memo, made);
        *entry = made;
    }
    return status;
}

/* Takes the result of a landed flight as a passenger. Returns false if the passenger must start over. */
static bool arrive(struct voyage *voyage, struct cache_entry **entry, ingot_status_t *status)
{
    struct memory_cache *cache = voyage->cache;
    struct cache_flight *flight = voyage->flight;
    bool arrived = true;

    *status = flight->result;
    if (*status == INGOT_SUCCESS) {
        arrived = cache->pool.ops.matches(cache_entry_value(flight->entry), voyage->request->key);
        if (arrived) {
            cache_entry_retain(flight->entry);
            *entry = flight->entry;
            memory_cache_remember(cache, voyage->request->memo, *entry);
        }
    } else if (flight_failure_of(*status) == FAILURE_OF_PILOT) {
        arrived = false;
    } else {
        ingot_set_error(*status, flight->code, "%s",
                        flight->detail != NULL ? flight->detail : "out of memory while recording why a call failed");
    }
    leave_flight(cache, flight);
    return arrived;
}

/* Adds the entry to the request's group. Stores it in the memo again, because its serial may have changed. */
static void join(struct memory_cache *cache, const struct cache_request *request, struct cache_entry *entry)
{
    memory_cache_join_group(cache, request, entry);
    memory_cache_remember(cache, request->memo, entry);
}

struct cache_entry *memory_cache_get(struct memory_cache *cache, const struct cache_request *request)
{
    struct cache_entry *entry = request->memo != NULL ? cache_memo_lookup(request->memo) : NULL;
    if (entry != NULL)
        return entry; /* it has been in the request's group since it was remembered */
    entry = memory_cache_lookup(cache, request);
    if (entry != NULL)
        join(cache, request, entry);
    return entry;
}

ingot_status_t memory_cache_get_or_make(struct memory_cache *cache, const struct cache_request *request,
                                        cache_maker maker, void *user, struct cache_entry **entry,
                                        enum cache_outcome *outcome)
{
    struct voyage voyage = {cache, request, maker, user, NULL};
    struct cache_entry *got = request->memo != NULL ? cache_memo_lookup(request->memo) : NULL;
    ingot_status_t status = INGOT_SUCCESS;
    enum boarding boarding = BOARDED_FOUND;
    const bool is_remembered = got != NULL; /* it has been in the request's group since it was remembered */

    if (got == NULL && !request->is_transient)
        got = memory_cache_lookup_unlocked(cache, request);
    if (got == NULL) {
        do {
            boarding = board(&voyage, &got, &status);
            if (boarding == BOARDED_AS_PILOT)
                status = fly(&voyage, &got);
        } while (boarding == BOARDED_AS_PASSENGER && !arrive(&voyage, &got, &status));
    }
    if (status == INGOT_SUCCESS) {
        if (boarding != BOARDED_AS_PILOT && !is_remembered && !request->is_transient)
            join(cache, request, got);
        *entry = got;
    }
    *outcome = boarding == BOARDED_FOUND ? CACHE_HIT : boarding == BOARDED_AS_PASSENGER ? CACHE_WAITED : CACHE_MADE;
    return status;
}
