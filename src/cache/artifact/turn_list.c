/*
 * turn_list.c - lists the turns of this process; see turn_list.h.
 *
 * A turn in the list belongs to a thread that waits for other processes, or to a maker. Other threads that need the
 * same artifact from the same storage wait for the end of that turn, so only one thread per process takes part in the
 * competition between processes.
 *
 * If waiting for an artifact is useless, its turns are not in the list, and that is noted for some time. Otherwise, a
 * thread that comes later would be listed, and those that come after it would wait for it.
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

#include "cache/lock.h"
#include "persist/base/checksum.h"
#include "persist/base/files.h"
#include "persist/storage/storage.h"
#include "util/nanoseconds.h"

#define KNOWN_WAITS 32u
#define KNOWN_USELESS 32u
#define USELESS_NS (60 * NS_PER_SECOND)  /* the reason may be temporary */
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
    uint64_t storage; /* storage_number(): unique in this process */
    uint64_t id_hash;
    uint64_t since_ns;
    uint64_t last_ns; /* 0: unused */
};

/* An artifact for which waiting is useless. */
struct known_useless {
    uint64_t storage; /* storage_number(): unique in this process */
    uint64_t id_hash;
    uint64_t until_ns; /* 0: unused */
};

static struct ingot_turn *first_turn;
static struct waiter *first_waiter;
static struct known_wait known_waits[KNOWN_WAITS];
static struct known_useless known_useless[KNOWN_USELESS];
static bool has_watcher;
static unsigned long owner; /* the process of all this */

/* Takes the lock. In a forked child, drops what belongs to the parent. */
static void take_lock(void)
{
    lock_take();
    if (owner == files_process())
        return;
    owner = files_process();
    first_turn = NULL;
    first_waiter = NULL;
    has_watcher = false;
    memset(known_waits, 0, sizeof(known_waits));
    memset(known_useless, 0, sizeof(known_useless));
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

/* Returns what is known about the uselessness of waiting for this artifact, or NULL. Requires the lock. */
static struct known_useless *find_useless(const struct ingot_turn *turn)
{
    const uint64_t id_hash = checksum_bucket_of(turn->id_size, turn->id);
    for (size_t i = 0; i < KNOWN_USELESS; ++i)
        if (known_useless[i].storage == storage_number(turn->storage) && known_useless[i].id_hash == id_hash)
            return &known_useless[i];
    return NULL;
}

static bool is_useless(const struct ingot_turn *turn)
{
    const struct known_useless *known = find_useless(turn);
    return known != NULL && files_steady_clock_ns() < known->until_ns;
}

/* If too many artifacts are known, forgets the one that was noted first. Requires the lock. */
static void note_useless(const struct ingot_turn *turn)
{
    struct known_useless *known = find_useless(turn);
    if (known == NULL) {
        known = &known_useless[0];
        for (size_t i = 1; i < KNOWN_USELESS; ++i)
            if (known_useless[i].until_ns < known->until_ns)
                known = &known_useless[i];
    }
    *known = (struct known_useless){storage_number(turn->storage), checksum_bucket_of(turn->id_size, turn->id),
                                    files_steady_clock_ns() + USELESS_NS};
}

/* Removes a turn from the list and wakes the threads that wait for it. Requires the lock. */
static void unlist(struct ingot_turn *turn, bool is_pointless)
{
    struct ingot_turn **at = &first_turn;
    if (is_pointless)
        note_useless(turn);
    while (*at != turn)
        at = &(*at)->next;
    *at = turn->next;
    turn->is_listed = false;
    for (struct waiter *waiter = first_waiter; waiter != NULL; waiter = waiter->next) {
        if (!waiter->is_over && is_same(waiter->wanted, turn)) {
            waiter->is_over = true;
            waiter->is_useless = is_pointless;
        }
    }
    lock_wake();
}

/* Ends a listed turn. Requires the lock, but releases it meanwhile. Other processes get the turn first, because a
 * thread of this process could not take their lock before. */
static void end_listed(struct ingot_turn *turn, struct build_turn *build, enum build_turn_end end)
{
    turn->is_ending = true;
    turn->build = NULL;
    lock_give();
    build_turn_end(build, end);
    take_lock();
    unlist(turn, end == BUILD_TURN_POINTLESS);
}

/* Ends the turns whose deadlines have passed. Returns the next deadline of a turn, or TURN_NO_TIME. `wanted` is
 * NULL, or only turns for the same artifact count. Requires the lock. */
static uint64_t pass_on(const struct ingot_turn *wanted, bool is_for_processes)
{
    const uint64_t now_ns = files_steady_clock_ns();
    uint64_t next_ns = TURN_NO_TIME;
    struct ingot_turn *turn = first_turn;
    while (turn != NULL) {
        const bool counts =
            !turn->is_ending && (wanted == NULL || is_same(turn, wanted)) && (!is_for_processes || turn->build != NULL);
        if (counts && turn->deadline_ns <= now_ns) {
            end_listed(turn, turn->build, BUILD_TURN_NOT_STORED);
            next_ns = TURN_NO_TIME;
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
    take_lock();
    for (;;) {
        const uint64_t next_ns = pass_on(NULL, true);
        if (next_ns == TURN_NO_TIME)
            break;
        lock_wait_until(next_ns);
    }
    has_watcher = false;
    lock_give();
    return NULL;
}

/* Starts the thread, which blocks all signals, because signals belong to the application. */
static bool start_watcher(void)
{
    pthread_attr_t detached;
    pthread_t thread;
    sigset_t all;
    sigset_t before;
    if (pthread_attr_init(&detached) != 0)
        return false;
    (void)pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool is_started = pthread_create(&thread, &detached, watch, NULL) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&detached);
    return is_started;
}

/* Sets a turn's deadline, and makes the thread observe it. If the thread cannot be started, other processes wait until
 * their own limit. Requires the lock, and gives it. */
static void set_deadline(struct ingot_turn *turn, uint64_t deadline_ns)
{
    turn->deadline_ns = deadline_ns;
    const bool is_to_start = !has_watcher && turn->build != NULL && deadline_ns != TURN_NO_TIME;
    has_watcher = has_watcher || is_to_start;
    lock_wake();
    lock_give();
    if (!is_to_start || start_watcher())
        return;
    take_lock();
    has_watcher = false;
    lock_give();
}

/* ---- for turn.c ---- */

static void remove_waiter(struct waiter *waiter)
{
    struct waiter **at = &first_waiter;
    while (*at != waiter)
        at = &(*at)->next;
    *at = waiter->next;
}

/* Waits for another thread's turn. Requires the lock. */
static enum turn_claim wait_for_thread(const struct ingot_turn *wanted, uint64_t until_ns)
{
    struct waiter waiter = {.next = first_waiter, .wanted = wanted};
    first_waiter = &waiter;
    for (;;) {
        const uint64_t deadline_ns = pass_on(wanted, false);
        if (waiter.is_over || files_steady_clock_ns() >= until_ns)
            break;
        lock_wait_until(deadline_ns < until_ns ? deadline_ns : until_ns);
    }
    remove_waiter(&waiter);
    return !waiter.is_over ? TURN_BUSY : waiter.is_useless ? TURN_USELESS : TURN_LOOK;
}

enum turn_claim turn_list_claim(struct ingot_turn *turn, uint64_t until_ns)
{
    enum turn_claim claim = TURN_CLAIMED;
    take_lock();
    if (is_useless(turn)) {
        claim = TURN_USELESS;
    } else if (find_same(turn) != NULL) {
        claim = wait_for_thread(turn, until_ns);
    } else {
        turn->next = first_turn;
        turn->is_listed = true;
        first_turn = turn;
    }
    lock_give();
    return claim;
}

void turn_list_begin(struct ingot_turn *turn, struct build_turn *build, uint64_t limit_ns)
{
    take_lock();
    turn->build = build;
    turn->limit_ns = limit_ns;
    turn->began_ns = files_steady_clock_ns();
    set_deadline(turn, turn->began_ns + limit_ns);
}

void turn_list_begin_useless(struct ingot_turn *turn, struct build_turn *build)
{
    take_lock();
    turn->build = build;
    unlist(turn, true);
    lock_give();
}

void turn_list_set_deadline(struct ingot_turn *turn, uint64_t deadline_ns)
{
    if (turn->process != files_process())
        return;
    take_lock();
    if (turn->is_listed && !turn->is_ending)
        set_deadline(turn, deadline_ns);
    else
        lock_give();
}

void turn_list_end(struct ingot_turn *turn, struct build_turn *build, enum build_turn_end end)
{
    if (turn->process != files_process()) {
        build_turn_end(build != NULL ? build : turn->build, BUILD_TURN_NOT_STORED); /* frees the child's copy */
        return;
    }
    take_lock();
    while (turn->is_listed && turn->is_ending)
        lock_wait();
    if (turn->is_listed)
        end_listed(turn, build != NULL ? build : turn->build, end);
    struct build_turn *unlisted = turn->build; /* see turn_list_begin_useless */
    turn->build = NULL;
    lock_give();
    build_turn_end(unlisted, end);
}

/* Returns what is known about a wait for this artifact, or NULL. Requires the lock. */
static struct known_wait *find_wait(const struct ingot_turn *turn, uint64_t id_hash)
{
    for (size_t i = 0; i < KNOWN_WAITS; ++i)
        if (known_waits[i].last_ns != 0 && known_waits[i].storage == storage_number(turn->storage) &&
            known_waits[i].id_hash == id_hash)
            return &known_waits[i];
    return NULL;
}

uint64_t turn_list_wait_since(const struct ingot_turn *turn, uint64_t now_ns)
{
    take_lock();
    struct known_wait *wait = find_wait(turn, checksum_bucket_of(turn->id_size, turn->id));
    const uint64_t since_ns = wait != NULL && now_ns - wait->last_ns <= WAIT_GAP_NS ? wait->since_ns : now_ns;
    if (wait != NULL)
        wait->last_ns = 0;
    lock_give();
    return since_ns;
}

void turn_list_note_wait(const struct ingot_turn *turn, uint64_t since_ns, uint64_t now_ns)
{
    take_lock();
    struct known_wait *oldest = &known_waits[0];
    for (size_t i = 1; i < KNOWN_WAITS; ++i)
        if (known_waits[i].last_ns < oldest->last_ns)
            oldest = &known_waits[i];
    *oldest = (struct known_wait){storage_number(turn->storage), checksum_bucket_of(turn->id_size, turn->id), since_ns,
                                  now_ns};
    lock_give();
}
