/*
 * turn_list.c - lists the turns of this process; see turn_list.h.
 *
 * A turn in the list belongs to a thread that waits for other processes, or to a maker. Other threads that need the
 * same artifact from the same storage wait for the end of that turn, so only one thread per process takes part in the
 * competition between processes.
 *
 * A turn whose deadline passes is ended here. Threads that wait for a turn see its deadline. If other processes may
 * wait for a turn, a thread of this file ends it. One such thread serves all turns, and it ends with the last of them.
 *
 * After a fork, the child has none of its parent's turns in the list.
 *
 * The mutex guards everything here. It is held for a few instructions, and not while a turn is ended for other
 * processes.
 */
#include "cache/artifact/turn_list.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "persist/base/checksum.h"
#include "persist/base/files.h"
#include "persist/base/process_lock.h"
#include "util/nanoseconds.h"

#define KNOWN_WAITS 32u
#define WAIT_GAP_NS (10 * NS_PER_SECOND) /* a later wait for the same artifact does not continue an earlier one */

/* A thread that waits for a turn, on the stack of that thread. */
struct waiter {
    struct waiter *next;
    const struct ingot_turn *wanted; /* the waiting thread's own turn, which is not in the list */
    bool is_over;
    bool is_useless;
};

/* A wait for another process, which may consist of several calls. */
struct known_wait {
    ingot_storage_t storage;
    uint64_t id_hash;
    uint64_t since_ns;
    uint64_t last_ns; /* 0: unused */
};

static struct process_lock mutex;
static pthread_cond_t has_changed; /* a turn has ended, or a deadline has been set */
static struct ingot_turn *first_turn;
static struct waiter *first_waiter;
static struct known_wait known_waits[KNOWN_WAITS];
static bool has_watcher;

/* Called in a new process, and in a forked child, before it first takes the mutex. */
static void begin_process(void *user)
{
    (void)user;
    (void)process_lock_condition_init(&has_changed); /* on Linux it needs no memory and cannot fail */
    first_turn = NULL;
    first_waiter = NULL;
    has_watcher = false;
    memset(known_waits, 0, sizeof(known_waits));
}

static void take_mutex(void)
{
    process_lock_take(&mutex, begin_process, NULL);
}

static void give_mutex(void)
{
    process_lock_give(&mutex);
}

static bool is_same(const struct ingot_turn *a, const struct ingot_turn *b)
{
    return a->storage == b->storage && a->id_size == b->id_size && memcmp(a->id, b->id, a->id_size) == 0;
}

static struct ingot_turn *find_same(const struct ingot_turn *wanted)
{
    struct ingot_turn *turn = first_turn;
    while (turn != NULL && !is_same(turn, wanted))
        turn = turn->next;
    return turn;
}

/* Removes a turn from the list and wakes the threads that wait for it. Requires the mutex. */
static void unlist(struct ingot_turn *turn, bool is_useless)
{
    struct ingot_turn **at = &first_turn;
    while (*at != turn)
        at = &(*at)->next;
    *at = turn->next;
    turn->is_listed = false;
    for (struct waiter *waiter = first_waiter; waiter != NULL; waiter = waiter->next) {
        if (!waiter->is_over && is_same(waiter->wanted, turn)) {
            waiter->is_over = true;
            waiter->is_useless = is_useless;
        }
    }
    (void)pthread_cond_broadcast(&has_changed);
}

/* Ends a listed turn. Requires the mutex, but releases it meanwhile. Other processes get the turn first, because a
 * thread of this process could not take their lock before. */
static void end_listed(struct ingot_turn *turn, struct build_turn *build, enum build_turn_end end)
{
    turn->is_ending = true;
    turn->build = NULL;
    give_mutex();
    build_turn_end(build, end);
    take_mutex();
    unlist(turn, end == BUILD_TURN_POINTLESS);
}

/* Ends the turns whose deadlines have passed. Returns the next deadline of a turn, or PROCESS_NO_TIME. `wanted` is
 * NULL, or only turns for the same artifact count. Requires the mutex. */
static uint64_t pass_on(const struct ingot_turn *wanted, bool is_for_processes)
{
    const uint64_t now_ns = files_steady_clock_ns();
    uint64_t next_ns = PROCESS_NO_TIME;
    struct ingot_turn *turn = first_turn;
    while (turn != NULL) {
        const bool counts =
            !turn->is_ending && (wanted == NULL || is_same(turn, wanted)) && (!is_for_processes || turn->build != NULL);
        if (counts && turn->deadline_ns <= now_ns) {
            end_listed(turn, turn->build, BUILD_TURN_NOT_STORED);
            next_ns = PROCESS_NO_TIME;
            turn = first_turn; /* the list may have changed */
            continue;
        }
        next_ns = counts && turn->deadline_ns < next_ns ? turn->deadline_ns : next_ns;
        turn = turn->next;
    }
    return next_ns;
}

/* ---- the thread that ends turns for other processes ---- */

static void *watch(void *user)
{
    (void)user;
    take_mutex();
    for (;;) {
        const uint64_t next_ns = pass_on(NULL, true);
        if (next_ns == PROCESS_NO_TIME)
            break;
        process_lock_wait_until(&mutex, &has_changed, next_ns);
    }
    has_watcher = false;
    give_mutex();
    return NULL;
}

/* Starts the thread if there is something to do for it. Without it, other processes wait until their own limit. The
 * thread blocks all signals, because signals belong to the application. Requires the mutex. */
static void ensure_watcher(const struct ingot_turn *turn)
{
    pthread_attr_t detached;
    pthread_t thread;
    sigset_t all;
    sigset_t before;
    (void)pthread_cond_broadcast(&has_changed);
    if (has_watcher || turn->build == NULL || turn->deadline_ns == PROCESS_NO_TIME || pthread_attr_init(&detached) != 0)
        return;
    (void)pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    has_watcher = pthread_create(&thread, &detached, watch, NULL) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&detached);
}

/* ---- for turn.c ---- */

static void remove_waiter(struct waiter *waiter)
{
    struct waiter **at = &first_waiter;
    while (*at != waiter)
        at = &(*at)->next;
    *at = waiter->next;
}

/* Waits for another thread's turn. Requires the mutex. */
static enum turn_claim wait_for_thread(const struct ingot_turn *wanted, uint64_t until_ns)
{
    struct waiter waiter = {.next = first_waiter, .wanted = wanted};
    first_waiter = &waiter;
    for (;;) {
        const uint64_t deadline_ns = pass_on(wanted, false);
        if (waiter.is_over || files_steady_clock_ns() >= until_ns)
            break;
        process_lock_wait_until(&mutex, &has_changed, deadline_ns < until_ns ? deadline_ns : until_ns);
    }
    remove_waiter(&waiter);
    return !waiter.is_over ? TURN_BUSY : waiter.is_useless ? TURN_USELESS : TURN_LOOK;
}

enum turn_claim turn_list_claim(struct ingot_turn *turn, uint64_t until_ns)
{
    enum turn_claim claim = TURN_CLAIMED;
    take_mutex();
    if (find_same(turn) != NULL) {
        claim = wait_for_thread(turn, until_ns);
    } else {
        turn->next = first_turn;
        turn->is_listed = true;
        first_turn = turn;
    }
    give_mutex();
    return claim;
}

void turn_list_begin(struct ingot_turn *turn, struct build_turn *build, uint64_t limit_ns)
{
    take_mutex();
    turn->build = build;
    turn->limit_ns = limit_ns;
    turn->began_ns = files_steady_clock_ns();
    turn->deadline_ns = turn->began_ns + limit_ns;
    ensure_watcher(turn);
    give_mutex();
}

void turn_list_set_deadline(struct ingot_turn *turn, uint64_t deadline_ns)
{
    if (turn->process != files_process())
        return;
    take_mutex();
    if (turn->is_listed && !turn->is_ending) {
        turn->deadline_ns = deadline_ns;
        ensure_watcher(turn);
    }
    give_mutex();
}

void turn_list_end(struct ingot_turn *turn, struct build_turn *build, enum build_turn_end end)
{
    if (turn->process != files_process()) {
        build_turn_end(build != NULL ? build : turn->build, BUILD_TURN_NOT_STORED); /* frees the child's copy */
        return;
    }
    take_mutex();
    while (turn->is_listed && turn->is_ending)
        process_lock_wait(&mutex, &has_changed);
    if (turn->is_listed)
        end_listed(turn, build != NULL ? build : turn->build, end);
    give_mutex();
}

/* Returns what is known about a wait for this artifact, or NULL. Requires the mutex. */
static struct known_wait *find_wait(const struct ingot_turn *turn, uint64_t id_hash)
{
    for (size_t i = 0; i < KNOWN_WAITS; ++i)
        if (known_waits[i].last_ns != 0 && known_waits[i].storage == turn->storage && known_waits[i].id_hash == id_hash)
            return &known_waits[i];
    return NULL;
}

uint64_t turn_list_wait_since(const struct ingot_turn *turn, uint64_t now_ns)
{
    take_mutex();
    struct known_wait *wait = find_wait(turn, checksum_bucket_of(turn->id_size, turn->id));
    const uint64_t since_ns = wait != NULL && now_ns - wait->last_ns <= WAIT_GAP_NS ? wait->since_ns : now_ns;
    if (wait != NULL)
        wait->last_ns = 0;
    give_mutex();
    return since_ns;
}

void turn_list_note_wait(const struct ingot_turn *turn, uint64_t since_ns, uint64_t now_ns)
{
    take_mutex();
    struct known_wait *oldest = &known_waits[0];
    for (size_t i = 1; i < KNOWN_WAITS; ++i)
        if (known_waits[i].last_ns < oldest->last_ns)
            oldest = &known_waits[i];
    *oldest = (struct known_wait){turn->storage, checksum_bucket_of(turn->id_size, turn->id), since_ns, now_ns};
    give_mutex();
}
