/*
 * build_turn.c - decides which thread of which process builds a program that several request at once, and when; see
 * build_turn.h.
 *
 * The threads of a process compete first (flight.h), and the winner then competes with other processes. A thread of an
 * application that has several contexts of its own does not wait for another one, which could need what it holds.
 *
 * A waiting process polls the lock, because the kernel's wait for a file lock has no deadline, and because a blob may
 * appear while the lock is still held. The pauses grow with the time waited, so that a wait takes at most a sixteenth
 * longer than the build, and a long wait costs next to nothing.
 *
 * A waiting process looks in the store only if the directory of the id's entry is another one, or its time of change is
 * another. But many file systems only use the time of the clock's last tick, and may give a new directory the inode of
 * an old one. So each wait ends with a last look in the store, even if neither has changed.
 *
 * If machines share a storage, the process that has taken the lock on its machine asks that storage for a lease. It
 * waits in the same way while another machine has the lease. A server may claim anything, so such a wait ends if no
 * wait of this process has brought a blob for the time of a lease, and all such waits together have the limit of one.
 *
 * A compiler may take long. So, unless the application has set the limit, a wait ends after ten minutes. A process that
 * was stopped cannot be told from one that works, and is awaited that long, too.
 *
 * No lock of this process is held during a wait, and a thread that is building a program does not wait for another
 * program, because two processes or threads could then wait for each other. This can still happen if a builder waits
 * for another thread of its process, for example for a lock of the application. The limit ends such a wait.
 *
 * If the store limits how many builds run at the same time, a build then waits for a permit. A thread that has a
 * permit, and compiles another program meanwhile, does not wait for a second one, because two threads could then wait
 * for each other.
 *
 * The maker of an artifact says how long it wants to wait, and must look for such deadlocks itself.
 */
#include "persist/storage/turns/build_turn.h"

#include <ingot/backend.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "persist/base/base.h"
#include "persist/storage/state.h"
#include "persist/storage/storage.h"
#include "persist/storage/turns/flight.h"
#include "util/nanoseconds.h"

#define SHORTEST_PAUSE_NS NS_PER_MS
#define LONGEST_PAUSE_NS (20 * NS_PER_MS)
#define LONGEST_LEASE_PAUSE_NS (100 * NS_PER_MS) /* each attempt is a request to a server */
#define LONGEST_LEASE_WAIT_NS (120 * NS_PER_SECOND)
#define PAUSES_OF_WAIT 16u
#define LONGEST_WAIT_NS (600 * NS_PER_SECOND)

struct build_turn {
    struct flight flight;
    ingot_storage_t storage; /* a reference to the caller's storage, which does not have the program */
    ingot_storage_t store;   /* a reference to the directory store that has the lock; NULL: none */
    struct build_lock *lock; /* NULL: none */
    bool is_stored_to;       /* true: the caller's storage stores to this store, so new blobs appear there */
    bool was_refused;        /* true: the storage had a useless blob, which may still be in the store */
    bool is_taken;
    enum build_turn_wait wait;
    bool is_first;          /* no other thread of this process has the turn */
    bool is_over;           /* waiting is over */
    bool is_artifact;       /* the turn does not belong to a thread */
    bool is_busy;           /* the wait has reached busy_ns, or nobody is waited for */
    bool is_pointless;      /* another process has found that waiting is useless */
    bool is_late;           /* the wait took too long, and this has not been reported yet */
    uint64_t waiting_ns;    /* when waiting began; 0: it has not begun */
    uint64_t until_ns;      /* the limit of the wait for another process */
    uint64_t since_ns;      /* for an artifact: the value that waiting_ns gets: now, or when an earlier call of the same
                             * wait began */
    uint64_t busy_ns;       /* how long the caller wants to wait */
    ingot_storage_t lessor; /* a reference; NULL: not searched for yet, or there is no lessor */
    void *lease;            /* NULL: none */
    uint64_t lease_since_ns; /* when the wait for the lease began; 0: it has not begun */
    bool is_lease_over;      /* waiting for the lease is over */
    size_t id_size;
    uint8_t id[];
};

static _Thread_local unsigned own_turns; /* without turns of artifacts */
static _Thread_local unsigned own_permits;

/* Returns a reference to the first writable directory store behind a storage, or NULL. Sets *is_stored_to to false if
 * the storage stores its blobs elsewhere. */
static ingot_storage_t take_store(ingot_storage_t storage, bool *is_stored_to)
{
    ingot_storage_t found = NULL;
    if (!storage_is_on(storage))
        return NULL;
    if (storage_has_build_locks(storage)) {
        ingot_storage_retain(storage);
        return storage;
    }
    for (size_t i = 0; i < storage->tier_count && found == NULL; ++i) {
        ingot_storage_t tier = storage->tiers[i];
        found = take_store(tier, is_stored_to);
        if (found == NULL && storage_is_writable(tier) && storage_is_on(tier))
            *is_stored_to = false;
    }
    return found;
}

static struct build_turn *make_build_turn(ingot_storage_t storage, size_t id_size, const uint8_t *id, bool was_refused)
{
    struct build_turn *turn = memory_allocate(&storage->allocator, sizeof(*turn) + id_size);
    if (turn == NULL)
        return NULL;
    *turn = (struct build_turn){.storage = storage,
                                .is_stored_to = true,
                                .was_refused = was_refused,
                                .busy_ns = FLIGHT_NO_TIME,
                                .id_size = id_size};
    memcpy(turn->id, id, id_size);
    flight_init(&turn->flight, storage, id_size, turn->id);
    ingot_storage_retain(storage);
    return turn;
}

struct build_turn *build_turn_begin(ingot_storage_t storage, size_t id_size, const uint8_t *id, bool was_refused,
                                    enum build_turn_wait wait)
{
    struct build_turn *turn = make_build_turn(storage, id_size, id, was_refused);
    if (turn != NULL) {
        turn->wait = wait;
        turn->busy_ns = wait == BUILD_TURN_FOR_NONE ? 0 : FLIGHT_NO_TIME;
        ++own_turns;
        return turn;
    }
    storage_tell(storage, INGOT_EVENT_STORAGE_DEGRADED, INGOT_OUT_OF_MEMORY, 0, files_steady_clock_ns(), "",
                 "no memory to wait for a program that another process may compile");
    return NULL;
}

struct build_turn *build_turn_begin_artifact(ingot_storage_t storage, size_t id_size, const uint8_t *id,
                                             bool was_refused, uint64_t until_ns)
{
    struct build_turn *turn = make_build_turn(storage, id_size, id, was_refused);
    if (turn == NULL)
        return NULL;
    turn->is_artifact = true;
    turn->wait = BUILD_TURN_FOR_ALL;
    turn->busy_ns = until_ns;
    return turn;
}

static uint64_t turn_limit_ns(const struct build_turn *turn)
{
    const uint64_t wait_ns = turn->lock != NULL ? build_lock_wait_ns(turn->store->self) : 0;
    return wait_ns != 0 ? wait_ns : LONGEST_WAIT_NS;
}

bool build_turn_is_busy(const struct build_turn *turn)
{
    return turn != NULL && turn->is_busy;
}

static void count_turn_wait(const struct build_turn *turn, bool is_timeout)
{
    ingot_storage_t counting[] = {turn->storage, turn->store};
    for (size_t i = 0; i < (turn->storage != turn->store ? 2u : 1u); ++i)
        storage_count(counting[i], is_timeout ? COUNTER_WAIT_TIMEOUTS : COUNTER_AWAITED, 1);
}

/* Pauses for a moment, which depends on the time waited so far. */
static void pause_for(uint64_t waited_ns, uint64_t longest_ns, uint64_t left_ns)
{
    uint64_t pause_ns = waited_ns / PAUSES_OF_WAIT;
    pause_ns = pause_ns < SHORTEST_PAUSE_NS ? SHORTEST_PAUSE_NS : pause_ns;
    pause_ns = pause_ns > longest_ns ? longest_ns : pause_ns;
    files_pause_ns(pause_ns < left_ns ? pause_ns : left_ns);
}

/* Pauses for a moment. Returns false, without a pause, if there is no time left. */
static bool pause_once(struct build_turn *turn)
{
    const uint64_t now_ns = files_steady_clock_ns();
    if (turn->waiting_ns == 0) {
        turn->waiting_ns = turn->is_artifact ? turn->since_ns : now_ns;
        turn->until_ns = turn->waiting_ns + turn_limit_ns(turn);
    }
    if (now_ns >= turn->until_ns) {
        turn->is_late = true;
        return false;
    }
    turn->is_busy = now_ns >= turn->busy_ns;
    if (turn->is_busy)
        return false;
    const uint64_t end_ns = turn->busy_ns < turn->until_ns ? turn->busy_ns : turn->until_ns;
    pause_for(now_ns - turn->waiting_ns, LONGEST_PAUSE_NS, end_ns - now_ns);
    return true;
}

/* True if the thread may wait: it does not build another program. */
static bool thread_may_wait(const struct build_turn *turn)
{
    return turn->is_artifact || own_turns == 1;
}

/* Tries to take the lock, and pauses if another process has it. Returns false if waiting is over. */
static bool wait_once(struct build_turn *turn)
{
    const enum build_lock_state state = build_lock_try_take(turn->lock);
    turn->is_taken = state == BUILD_LOCK_TAKEN;
    turn->is_pointless = state == BUILD_LOCK_POINTLESS;
    const bool is_tried = turn->wait == BUILD_TURN_FOR_NONE;
    const bool is_held = state == BUILD_LOCK_BUSY || (state == BUILD_LOCK_HELD_HERE && (turn->is_artifact || is_tried));
    if (is_tried)
        turn->is_busy = is_held || turn->is_pointless;
    return is_held && !is_tried && thread_may_wait(turn) && pause_once(turn);
}

/* ---- leases ---- */

/* Returns a reference to the first storage that gives leases and in which the application's blobs are stored, or NULL:
 * others would wait for a blob that never arrives elsewhere. */
static ingot_storage_t find_lessor(ingot_storage_t storage)
{
    ingot_storage_t found = NULL;
    if (!storage_is_on(storage))
        return NULL;
    if (storage->ops.take_lease != NULL && storage_is_writable(storage) &&
        atomic_load_explicit(&storage->is_written_through, memory_order_relaxed)) {
        ingot_storage_retain(storage);
        return storage;
    }
    for (size_t i = 0; i < storage->tier_count && found == NULL; ++i)
        found = find_lessor(storage->tiers[i]);
    return found;
}

/* The waits of this process for other machines since one of them last brought a blob. The time of several threads that
 * wait together counts once. */
static struct {
    pthread_mutex_t lock;
    uint64_t since_ns;
    uint64_t total_ns;
    uint64_t counted_until_ns;
} fruitless = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Pauses for a moment while another machine has the lease. Returns false, without a pause, if there is no time left. */
static bool pause_for_lease(struct build_turn *turn)
{
    const uint64_t now_ns = files_steady_clock_ns();
    const uint64_t wait_ns = build_lock_wait_ns(turn->store->self);
    if (turn->lease_since_ns == 0)
        turn->lease_since_ns = turn->is_artifact ? turn->since_ns : now_ns;
    if (turn->waiting_ns == 0)
        turn->waiting_ns = turn->lease_since_ns;
    (void)pthread_mutex_lock(&fruitless.lock);
    const uint64_t since_ns = fruitless.since_ns > turn->lease_since_ns ? fruitless.since_ns : turn->lease_since_ns;
    const uint64_t total_ns = fruitless.total_ns;
    (void)pthread_mutex_unlock(&fruitless.lock);
    turn->is_late = total_ns >= (wait_ns != 0 ? wait_ns : LONGEST_LEASE_WAIT_NS) ||
                    (now_ns > since_ns && now_ns - since_ns >= LONGEST_LEASE_WAIT_NS);
    turn->is_busy = !turn->is_late && now_ns >= turn->busy_ns;
    if (turn->is_late || turn->is_busy)
        return false;
    pause_for(now_ns - turn->lease_since_ns, LONGEST_LEASE_PAUSE_NS, turn->busy_ns - now_ns);
    const uint64_t until_ns = files_steady_clock_ns();
    (void)pthread_mutex_lock(&fruitless.lock);
    const uint64_t from_ns = now_ns < fruitless.counted_until_ns ? fruitless.counted_until_ns : now_ns;
    if (from_ns < until_ns) {
        fruitless.total_ns += until_ns - from_ns;
        fruitless.counted_until_ns = until_ns;
    }
    (void)pthread_mutex_unlock(&fruitless.lock);
    return true;
}

/* Asks for the lease, and waits while another machine has it. Returns true if the storage now has a blob, which the
 * caller should try to load. If that is useless, the caller builds the program without a lease. */
static bool wait_for_lease(struct build_turn *turn)
{
    if (!turn->is_taken || turn->is_lease_over)
        return false;
    turn->lessor = find_lessor(turn->storage);
    ingot_lease_answer_t answer = INGOT_LEASE_NONE;
    while (turn->lessor != NULL) {
        answer = turn->lessor->ops.take_lease(turn->lessor->self, turn->id_size, turn->id, &turn->lease);
        turn->is_busy = answer == INGOT_LEASE_BUSY && turn->wait == BUILD_TURN_FOR_NONE;
        if (answer != INGOT_LEASE_BUSY || turn->is_busy || !thread_may_wait(turn) || !pause_for_lease(turn))
            break;
    }
    if (answer == INGOT_LEASE_STORED) {
        (void)pthread_mutex_lock(&fruitless.lock);
        fruitless.since_ns = files_steady_clock_ns();
        fruitless.total_ns = 0;
        (void)pthread_mutex_unlock(&fruitless.lock);
    }
    turn->is_lease_over = true;
    return answer == INGOT_LEASE_STORED && !turn->was_refused;
}

/* Waits for other processes that use the directory store. Returns true if the caller should look in the storage. */
static bool wait_for_lock(struct build_turn *turn)
{
    if (turn->lock == NULL)
        return false;
    while (wait_once(turn))
        if (build_lock_has_changed(turn->lock))
            return true;
    if (turn->is_busy)
        return false;
    turn->is_over = true; /* a last look may follow, because the program may just have been stored */
    const bool has_changed = build_lock_has_changed(turn->lock); /* also shows this machine what others have stored */
    return turn->waiting_ns != 0 || (turn->is_taken && !turn->is_stored_to) || (!turn->was_refused && has_changed);
}

/* Counts and reports a wait that took too long. Called after the last look found nothing. */
static void note_late(struct build_turn *turn)
{
    char reason[200];
    if (!turn->is_late)
        return;
    turn->is_late = false;
    count_turn_wait(turn, true);
    const uint64_t waited_ms = (files_steady_clock_ns() - turn->waiting_ns) / NS_PER_MS;
    (void)snprintf(reason, sizeof(reason),
                   "another %s has been %s for over %llu ms, or is stopped, so this one %s it as well; if none is "
                   "stopped, raise build_wait_ms",
                   turn->is_taken ? "machine" : "process",
                   turn->is_artifact ? "making the artifact" : "compiling the program", (unsigned long long)waited_ms,
                   turn->is_artifact ? "makes" : "compiles");
    storage_tell(turn->store, INGOT_EVENT_STORAGE_DEGRADED, INGOT_BUSY, 0, turn->waiting_ns,
                 build_lock_name(turn->lock), reason);
}

bool build_turn_wait(struct build_turn *turn)
{
    if (turn == NULL)
        return false;
    if (!turn->is_first) {
        const bool is_tried = turn->wait == BUILD_TURN_FOR_NONE;
        const bool may_wait = is_tried || (turn->wait == BUILD_TURN_FOR_ALL && thread_may_wait(turn));
        const enum flight_claim claim = flight_claim(&turn->flight, may_wait, turn->busy_ns);
        turn->is_busy = claim == FLIGHT_BUSY || (is_tried && claim == FLIGHT_ALONE);
        if (claim != FLIGHT_CLAIMED)
            return claim == FLIGHT_LOOK;
        turn->is_first = true;
        turn->store = take_store(turn->storage, &turn->is_stored_to);
        if (turn->store != NULL)
            turn->lock = build_lock_open(turn->store->self, turn->id_size, turn->id);
        if (turn->lock != NULL && turn->was_refused)
            (void)build_lock_has_changed(turn->lock);
        if (turn->is_artifact)
            turn->since_ns = flight_wait_since(&turn->flight, files_steady_clock_ns());
    }
    if ((!turn->is_over && wait_for_lock(turn)) || wait_for_lease(turn))
        return true;
    note_late(turn);
    if (turn->is_busy && turn->is_artifact)
        flight_note_wait(&turn->flight, turn->since_ns, files_steady_clock_ns());
    else if (turn->is_pointless)
        flight_end(&turn->flight, true);
    else if (!turn->is_busy)
        flight_begin(&turn->flight, turn_limit_ns(turn));
    return false;
}

/* Other processes get the turn first, because a thread of this process could not take their lock before. */
void build_turn_end(struct build_turn *turn, enum build_turn_end end)
{
    if (turn == NULL)
        return;
    ingot_storage_t storage = turn->storage;
    if (end == BUILD_TURN_LOADED && turn->waiting_ns != 0)
        count_turn_wait(turn, false);
    if (turn->lease != NULL)
        turn->lessor->ops.end_lease(turn->lessor->self, turn->lease,
                                    end == BUILD_TURN_LOADED || end == BUILD_TURN_NOT_STORED);
    ingot_storage_release(turn->lessor);
    if (turn->lock != NULL)
        build_lock_close(turn->lock, end == BUILD_TURN_POINTLESS);
    flight_end(&turn->flight, end == BUILD_TURN_POINTLESS);
    if (!turn->is_artifact)
        --own_turns;
    ingot_storage_release(turn->store);
    memory_free(&storage->allocator, turn, sizeof(*turn) + turn->id_size);
    ingot_storage_release(storage);
}

/* ---- permits ---- */

struct build_permit {
    ingot_storage_t store; /* a reference */
    struct build_lock *place;
};

static void wait_for_place(const struct build_permit *permit)
{
    char reason[160];
    const uint64_t began_ns = files_steady_clock_ns();
    const uint64_t wait_ns = build_lock_wait_ns(permit->store->self);
    const uint64_t until_ns = began_ns + (wait_ns != 0 ? wait_ns : LONGEST_WAIT_NS);
    while (!build_place_try(permit->place)) {
        const uint64_t now_ns = files_steady_clock_ns();
        if (now_ns >= until_ns) {
            (void)snprintf(reason, sizeof(reason),
                           "no place for a compilation became free within %llu ms, so the program is compiled without "
                           "one; see build_jobs and build_wait_ms",
                           (unsigned long long)((now_ns - began_ns) / NS_PER_MS));
            storage_tell(permit->store, INGOT_EVENT_STORAGE_DEGRADED, INGOT_BUSY, 0, began_ns, "", reason);
            return;
        }
        pause_for(now_ns - began_ns, LONGEST_PAUSE_NS, until_ns - now_ns);
    }
}

struct build_permit *build_permit_take(ingot_storage_t storage)
{
    bool is_stored_to = true;
    ingot_storage_t store = own_permits == 0 ? take_store(storage, &is_stored_to) : NULL;
    struct build_lock *place = store != NULL ? build_place_ask(store->self) : NULL;
    struct build_permit *permit = place != NULL ? memory_allocate(&store->allocator, sizeof(*permit)) : NULL;
    if (permit == NULL) {
        if (place != NULL)
            build_place_leave(place);
        ingot_storage_release(store);
        return NULL;
    }
    *permit = (struct build_permit){store, place};
    ++own_permits;
    wait_for_place(permit);
    return permit;
}

void build_permit_give(struct build_permit *permit)
{
    if (permit == NULL)
        return;
    ingot_storage_t store = permit->store;
    --own_permits;
    build_place_leave(permit->place);
    memory_free(&store->allocator, permit, sizeof(*permit));
    ingot_storage_release(store);
}
