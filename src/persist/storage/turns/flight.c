/*
 * flight.c - lists the flights of this process, and notes past ones; see flight.h.
 *
 * A flight in the list belongs to a thread that waits for other processes, or to a maker. Other threads that need the
 * same id from the same storage wait until none is in the list, so only one thread per process takes part in the
 * competition between processes. A thread that has waited for too long makes what it needs itself.
 *
 * If waiting for an id is useless, its flights are not in the list, and that is noted for some time. Otherwise, a
 * thread that comes later would be listed, and those that come after it would wait for it. Notes only save time, so
 * there are few places for them, and a new note replaces the one of its places that matters least.
 *
 * One lock guards everything here. It is held for a few instructions. A fork does not wait for it: the application may
 * hold a lock of its own while it requests a program and while it forks. So a child begins with a new lock and none of
 * its parent's flights and notes.
 */
#include "persist/storage/turns/flight.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "persist/base/base.h"
#include "persist/storage/state.h"
#include "persist/storage/storage.h"
#include "util/nanoseconds.h"
#include "util/thread.h"

#define NOTE_COUNT 1024u
#define NOTE_PLACES 8u                   /* where the note about an id may be */
#define USELESS_NS (60 * NS_PER_SECOND)  /* the reason may be temporary */
#define WAIT_GAP_NS (10 * NS_PER_SECOND) /* a later wait for the same id does not continue an earlier one */
#define WISH_GAP_NS NS_PER_SECOND        /* a wish is new for so long */

/* What is known about an id whose flight has ended, or has not begun. */
struct note {
    uint64_t storage; /* its number, unique in this process; 0: nothing is noted here */
    uint64_t id_hash;
    uint64_t useless_until_ns; /* waiting for the id is useless until then; 0: it is not */
    uint64_t waiting_since_ns; /* a wait for another process, which may consist of several calls, began then */
    uint64_t waited_until_ns;  /* its last call so far ended then; 0: there was none */
    uint64_t wished_until_ns;  /* a builder was asked for the id, and is not asked again until then; 0: it was not */
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed; /* a flight has ended, or has a limit now */
static struct flight *first_flight;
static struct note notes[NOTE_COUNT]; /* by the hash of the id */

/* Called in a forked child right after the fork, in its only thread. The parent's notes name none of its storages. */
static void forget_parent(void)
{
    (void)pthread_mutex_init(&mutex, NULL);
    thread_condition_init(&changed);
    first_flight = NULL;
}

static void prepare(void)
{
    thread_condition_init(&changed);
    (void)pthread_atfork(NULL, NULL, forget_parent);
}

static void take_lock(void)
{
    static pthread_once_t is_prepared = PTHREAD_ONCE_INIT;
    (void)pthread_once(&is_prepared, prepare);
    (void)pthread_mutex_lock(&mutex);
}

static void give_lock(void)
{
    (void)pthread_mutex_unlock(&mutex);
}

/* Returns a number of the calling thread that no other thread of the process ever has. */
static uint64_t thread_number(void)
{
    static _Atomic uint64_t thread_count;
    static _Thread_local uint64_t own;
    if (own == 0)
        own = atomic_fetch_add_explicit(&thread_count, 1, memory_order_relaxed) + 1;
    return own;
}

void flight_init(struct flight *flight, ingot_storage_t storage, size_t id_size, const uint8_t *id)
{
    *flight = (struct flight){.began_ns = FLIGHT_NO_TIME,
                              .thread = thread_number(),
                              .storage = storage->number,
                              .id_size = id_size,
                              .id = id};
}

static bool has_id(const struct flight *flight, size_t id_size, const uint8_t *id)
{
    return flight->id_size == id_size && memcmp(flight->id, id, id_size) == 0;
}

bool flight_is_own(size_t id_size, const uint8_t *id)
{
    take_lock();
    const struct flight *flight = first_flight;
    while (flight != NULL && (flight->thread != thread_number() || !has_id(flight, id_size, id)))
        flight = flight->next;
    give_lock();
    return flight != NULL;
}

static struct flight *find_same_flight(const struct flight *wanted)
{
    struct flight *flight = first_flight;
    while (flight != NULL && (flight->storage != wanted->storage || !has_id(flight, wanted->id_size, wanted->id)))
        flight = flight->next;
    return flight;
}

/* ---- notes; all of these functions require the lock ---- */

/* Returns when a note stops to say anything: the last of its times. */
static uint64_t last_ns(const struct note *note)
{
    const uint64_t waited_ns = note->waited_until_ns != 0 ? note->waited_until_ns + WAIT_GAP_NS : 0;
    const uint64_t last = waited_ns > note->useless_until_ns ? waited_ns : note->useless_until_ns;
    return last > note->wished_until_ns ? last : note->wished_until_ns;
}

/* Returns the note about a flight's id. If there is none, returns NULL, or makes one if `makes` is true. */
static struct note *find_note(const struct flight *flight, bool makes)
{
    const uint64_t id_hash = checksum_bucket_of(flight->id_size, flight->id);
    struct note *least = &notes[id_hash % NOTE_COUNT];
    for (uint64_t i = 0; i < NOTE_PLACES; ++i) {
        struct note *note = &notes[(id_hash + i) % NOTE_COUNT];
        if (note->storage == flight->storage && note->id_hash == id_hash)
            return note;
        if (last_ns(note) < last_ns(least))
            least = note;
    }
    if (makes)
        *least = (struct note){.storage = flight->storage, .id_hash = id_hash};
    return makes ? least : NULL;
}

static bool is_useless(const struct flight *flight)
{
    const struct note *note = find_note(flight, false);
    return note != NULL && files_steady_clock_ns() < note->useless_until_ns;
}

uint64_t flight_wait_since(const struct flight *flight, uint64_t now_ns)
{
    take_lock();
    struct note *note = find_note(flight, false);
    const bool continues = note != NULL && note->waited_until_ns != 0 && now_ns - note->waited_until_ns <= WAIT_GAP_NS;
    const uint64_t since_ns = continues ? note->waiting_since_ns : now_ns;
    if (note != NULL)
        note->waited_until_ns = 0;
    give_lock();
    return since_ns;
}

void flight_note_wait(const struct flight *flight, uint64_t since_ns, uint64_t now_ns)
{
    take_lock();
    struct note *note = find_note(flight, true);
    note->waiting_since_ns = since_ns;
    note->waited_until_ns = now_ns;
    give_lock();
}

bool flight_is_wished(ingot_storage_t storage, size_t id_size, const uint8_t *id)
{
    struct flight flight;
    flight_init(&flight, storage, id_size, id);
    take_lock();
    const struct note *note = find_note(&flight, false);
    const bool is_wished = note != NULL && files_steady_clock_ns() < note->wished_until_ns;
    give_lock();
    return is_wished;
}

void flight_note_wish(ingot_storage_t storage, size_t id_size, const uint8_t *id)
{
    struct flight flight;
    flight_init(&flight, storage, id_size, id);
    take_lock();
    find_note(&flight, true)->wished_until_ns = files_steady_clock_ns() + WISH_GAP_NS;
    give_lock();
}

/* ---- flights ---- */

/* Waits until no thread has a flight for this id. Requires the lock. */
static enum flight_claim wait_for_threads(const struct flight *wanted, uint64_t until_ns)
{
    for (;;) {
        const struct flight *flight = find_same_flight(wanted);
        if (flight == NULL)
            return is_useless(wanted) ? FLIGHT_ALONE : FLIGHT_LOOK;
        const uint64_t now_ns = files_steady_clock_ns();
        const bool is_limited =
            flight->began_ns != FLIGHT_NO_TIME && flight->limit_ns < FLIGHT_NO_TIME - flight->began_ns;
        const uint64_t late_ns = is_limited ? flight->began_ns + flight->limit_ns : FLIGHT_NO_TIME;
        if (now_ns >= late_ns)
            return FLIGHT_ALONE;
        if (now_ns >= until_ns)
            return FLIGHT_BUSY;
        thread_wait(&changed, &mutex, late_ns < until_ns ? late_ns : until_ns);
    }
}

enum flight_claim flight_claim(struct flight *flight, bool may_wait, uint64_t until_ns)
{
    enum flight_claim claim = FLIGHT_CLAIMED;
    take_lock();
    if (is_useless(flight)) {
        claim = FLIGHT_ALONE;
    } else if (find_same_flight(flight) != NULL) {
        claim = may_wait ? wait_for_threads(flight, until_ns) : FLIGHT_ALONE;
    } else {
        flight->next = first_flight;
        flight->is_listed = true;
        first_flight = flight;
    }
    give_lock();
    return claim;
}

void flight_begin(struct flight *flight, uint64_t limit_ns)
{
    take_lock();
    flight->limit_ns = limit_ns;
    flight->began_ns = files_steady_clock_ns();
    (void)pthread_cond_broadcast(&changed); /* those who wait learn the limit */
    give_lock();
}

void flight_end(struct flight *flight, bool is_pointless)
{
    take_lock();
    if (flight->is_listed) {
        struct flight **at = &first_flight;
        if (is_pointless)
            find_note(flight, true)->useless_until_ns = files_steady_clock_ns() + USELESS_NS;
        while (*at != NULL && *at != flight) /* it is not in the list of a forked child */
            at = &(*at)->next;
        if (*at != NULL)
            *at = flight->next;
        flight->is_listed = false;
        (void)pthread_cond_broadcast(&changed);
    }
    give_lock();
}
