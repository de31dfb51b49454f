/*
 * memory_cache_make.c - handles requests that make an entry if they do not find it.
 *
 * A request finds its entry, waits for another thread's flight (cache_flight.h), or makes the entry itself. If a
 * flight's outcome does not apply to the request, for example because only the leader failed, the request starts over.
 * No lock is held while a maker runs, while entries are released, or while a thread waits.
 */
#include "core/base/error.h"
#include "core/memory_cache/cache_state.h"
#include "core/memory_cache/memory_cache.h"

enum joining { JOINED_FOUND, JOINED_AS_LEADER, JOINED_AS_FOLLOWER, JOINED_REFUSED };

struct attempt {
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

/* Finds the request's entry, joins its flight, or begins a flight. For a follower, returns when the flight is over
 * or the follower has become the leader. */
static enum joining join_flight(struct attempt *attempt, struct cache_entry **entry, ingot_status_t *status)
{
    struct memory_cache *cache = attempt->cache;
    struct cache_flight *spare = flight_create(&cache->pool.allocator);
    struct cache_follower follower = {.request = attempt->request};
    enum joining joining = JOINED_AS_LEADER;

    *status = INGOT_SUCCESS; /* if an earlier round failed, the failure was another thread's */
    if (spare == NULL) {
        memory_cache_empty(cache);
        spare = flight_create(&cache->pool.allocator);
    }
    if (spare == NULL) {
        *status = error_out_of_memory();
        return JOINED_REFUSED;
    }
    pthread_mutex_lock(&cache->lock);
    *entry = attempt->request->is_transient ? NULL : memory_cache_lookup_locked(cache, attempt->request);
    attempt->flight = *entry == NULL ? flights_find(&cache->flights, &cache->pool.ops, attempt->request) : NULL;
    if (*entry != NULL) {
        joining = JOINED_FOUND;
    } else if (attempt->flight == NULL) {
        attempt->flight = spare;
        spare = NULL;
        flights_add(&cache->flights, attempt->flight, attempt->request);
        ++cache->misses;
    } else if (pthread_equal(attempt->flight->leader, pthread_self())) { /* it would wait for itself forever */
        *status = error_set(INGOT_DEADLOCK, "this thread requested what it is making");
        joining = JOINED_REFUSED;
    } else {
        ++cache->waits;
        flight_wait(attempt->flight, &follower, &cache->lock);
        if (follower.is_leader)
            ++cache->misses;
        else
            joining = JOINED_AS_FOLLOWER;
    }
    pthread_mutex_unlock(&cache->lock);
    flight_destroy(spare, &cache->pool.allocator);
    return joining;
}

static ingot_status_t run_maker(struct attempt *attempt, struct cache_entry **entry, size_t *bytes)
{
    struct making making = {attempt->cache, false, innermost};
    const bool is_outermost = making_of(attempt->cache) == NULL;

    if (is_outermost)
        innermost = &making;
    ingot_status_t status = attempt->maker(entry, bytes, attempt->user);
    if (status == INGOT_OUT_OF_MEMORY && memory_cache_make_room(attempt->cache))
        status = attempt->maker(entry, bytes, attempt->user);
    if (is_outermost)
        innermost = making.outer;
    return status;
}

/* Makes the entry as the leader, and passes the result to the waiting threads. */
static ingot_status_t lead_flight(struct attempt *attempt, struct cache_entry **entry)
{
    struct memory_cache *cache = attempt->cache;
    struct cache_flight *flight = attempt->flight;
    struct cache_victims victims;
    struct cache_entry *made = NULL;
    size_t bytes = 0;
    const ingot_status_t status = run_maker(attempt, &made, &bytes);
    const enum flight_failure failure = flight_failure_of(status);
    char *detail = NULL;
    bool kept = false;

    if (status != INGOT_SUCCESS)
        detail = memory_make_text(&cache->pool.allocator, ingot_last_error_detail());
    memory_cache_begin_change(cache, &victims);
    const bool retry = status != INGOT_SUCCESS && failure == FAILURE_SPURIOUS && !flight->is_second_try;
    if (!retry || !flight_hand_over(flight)) {
        /* If another thread has put an entry with this key into the cache meanwhile, that entry stays. */
        if (status == INGOT_SUCCESS && !flight->discard && !attempt->request->is_transient &&
            cache_table_lookup(&cache->table, attempt->request) == NULL)
            kept = memory_cache_keep(cache, attempt->request, made, bytes, NULL, &victims);
        if (status == INGOT_SUCCESS && flight->followers != NULL) {
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
    memory_cache_end_change(cache, &victims, true);

    if (is_last)
        flight_destroy(flight, &cache->pool.allocator);
    memory_free_text(&cache->pool.allocator, detail);
    if (status == INGOT_SUCCESS) {
        if (kept)
            memory_cache_remember(cache, attempt->request->memo, made);
        *entry = made;
    }
    return status;
}

/* Takes the result of a landed flight as a follower. Returns false if the follower must start over. */
static bool follow_flight(struct attempt *attempt, struct cache_entry **entry, ingot_status_t *status)
{
    struct memory_cache *cache = attempt->cache;
    struct cache_flight *flight = attempt->flight;
    bool arrived = true;

    *status = flight->result;
    if (*status == INGOT_SUCCESS) {
        arrived = cache->pool.ops.matches(cache_entry_value(flight->entry), attempt->request->key);
        if (arrived) {
            cache_entry_retain(flight->entry);
            *entry = flight->entry;
            memory_cache_remember(cache, attempt->request->memo, *entry);
        }
    } else if (flight_failure_of(*status) == FAILURE_OF_LEADER) {
        arrived = false;
    } else {
        ingot_set_error(*status, flight->code, "%s",
                        flight->detail != NULL ? flight->detail : "out of memory while recording why a call failed");
    }
    pthread_mutex_lock(&cache->lock);
    const bool is_last = --flight->references == 0; /* the leader drops its own in lead_flight */
    pthread_mutex_unlock(&cache->lock);
    if (is_last)
        flight_destroy(flight, &cache->pool.allocator);
    return arrived;
}

/* Adds the entry to the request's group. Stores it in the memo again, because its serial may have changed. */
static void join_request_group(struct memory_cache *cache, const struct cache_request *request,
                               struct cache_entry *entry)
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
        join_request_group(cache, request, entry);
    return entry;
}

ingot_status_t memory_cache_get_or_make(struct memory_cache *cache, const struct cache_request *request,
                                        cache_maker maker, void *user, struct cache_entry **entry,
                                        enum cache_outcome *outcome)
{
    struct attempt attempt = {cache, request, maker, user, NULL};
    struct cache_entry *got = request->memo != NULL ? cache_memo_lookup(request->memo) : NULL;
    ingot_status_t status = INGOT_SUCCESS;
    enum joining joining = JOINED_FOUND;
    const bool is_remembered = got != NULL; /* it has been in the request's group since it was remembered */

    if (got == NULL && !request->is_transient)
        got = memory_cache_lookup_unlocked(cache, request);
    if (got == NULL) {
        do {
            joining = join_flight(&attempt, &got, &status);
            if (joining == JOINED_AS_LEADER)
                status = lead_flight(&attempt, &got);
        } while (joining == JOINED_AS_FOLLOWER && !follow_flight(&attempt, &got, &status));
    }
    if (status == INGOT_SUCCESS) {
        if (joining != JOINED_AS_LEADER && !is_remembered && !request->is_transient)
            join_request_group(cache, request, got);
        *entry = got;
    }
    *outcome = joining == JOINED_FOUND ? CACHE_HIT : joining == JOINED_AS_FOLLOWER ? CACHE_WAITED : CACHE_MADE;
    return status;
}
