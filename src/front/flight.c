/*
 * flight.c - lets one thread of the process look for a program while others wait; see flight.h.
 *
 * Threads that have waited do not begin flights of their own: if the program was not stored, because it does not
 * compile or the storage does not take it, each of them compiles it, all at once.
 * Locks: the lock of lock.h guards the list.
 */
#include "front/flight.h"

#include <string.h>

#include "front/lock.h"
#include "persist/base/files.h"
#include "util/process_number.h"

static struct flight *flights; /* under the lock, like the next variable */
static unsigned long process;  /* the process that began the flights; a forked child forgets its parent's */
static _Thread_local unsigned own_flights;

static bool is_for_same_program(const struct flight *a, const struct flight *b)
{
    return a->storage == b->storage && a->id_size == b->id_size && memcmp(a->id, b->id, a->id_size) == 0;
}

static bool is_in_progress(const struct flight *wanted)
{
    const struct flight *flight = flights;
    while (flight != NULL && !is_for_same_program(flight, wanted))
        flight = flight->next;
    return flight != NULL;
}

void flight_begin(struct flight *flight, ingot_storage_t storage, size_t id_size, const uint8_t *id)
{
    *flight = (struct flight){NULL, storage, id_size, id, false};
    if (own_flights != 0)
        return;
    lock_take();
    if (process != process_number()) {
        process = process_number();
        flights = NULL;
    }
    if (is_in_progress(flight)) {
        while (is_in_progress(flight))
            lock_wait();
    } else {
        flight->next = flights;
        flights = flight;
        flight->has_begun = true;
        ++own_flights;
    }
    lock_give();
}

void flight_end(struct flight *flight)
{
    if (!flight->has_begun)
        return;
    --own_flights;
    lock_take();
    struct flight **place = &flights;
    while (*place != NULL && *place != flight)
        place = &(*place)->next;
    if (*place != NULL)
        *place = flight->next;
    lock_wake();
    lock_give();
}
