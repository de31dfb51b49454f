/*
 * turn_list.c - lists the turns of this process; see turn_list.h.
 *
 * A turn in the list belongs to a thread that waits for other processes, or to a maker. Other threads that need the
 * same artifact from the same storage wait until none is in the list, so only one thread per process takes part in the
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
#include <string.h>

#include "cache/lock.h"
#include "persist/base/checksum.h"
#include "persist/base/files.h"
#include "persist/storage/storage.h"
#include "util/nanoseconds.h"
#include "util/process_number.h"
#include "util/thread.h"

#define NOTE_COUNT 32u
#define USELESS_NS (60 * NS_PER_SECOND)  /* the reason may be temporary */
#define WAIT_GAP_NS (10 * NS_PER_SECOND) /* a later wait for the same artifact does not continue an earlier one */

/* What is known about an artifact whose turn has ended, or has not begun. */
struct note {
    uint64_t storage; /* storage_number(): unique in this process */
    uint64_t id_hash;
    uint64_t made_ns;          /* 0: unused */
    uint64_t useless_until_ns; /* waiting for the artifact is useless until then; 0: it is not */
    uint64_t waiting_since_ns; /* a wait for another process, which may consist of several calls, began then */
    uint64_t waited_until_ns;  /* its last call so far ended then; 0: there was none */
};

static struct ingot_turn *first_turn;
static struct note notes[NOTE_COUNT];
static bool has_watcher;
static unsigned long owner; /* the process of all this */

/* Takes the lock. In a forked child, drops what belongs to the parent. */
static void take_lock(void)
{
    lock_take();
    if (owner == process_number())
        return;
    owner = process_number();
    first_turn = NULL;
    has_watcher = false;
    memset(notes, 0, sizeof(notes));
}

static bool is_for_same_artifact(const struct ingot_turn *a, const struct ingot_turn *b)
{
    return a->storage == b->storage && a->id_size == b->id_size && memcmp(a->id, b->id, a->id_size) == 0;
}

static struct ingot_turn *find_same_turn(const struct ingot_turn *wanted)
{
    struct ingot_turn *turn = first_turn;
    while (turn != NULL && !is_for_same_artifact(turn, wanted))
        turn = turn->next;
    return turn;
}

/* Returns the note about a turn's artifact, or NULL. Requires the lock, like the next functions. */
static struct note *find_note(const struct ingot_turn *turn)
{
    const uint64_t id_hash = checksum_bucket_of(turn->id_size, turn->id);
    for (size_t i = 0; i < NOTE_COUNT; ++i)
        if (notes[i].made_ns != 0 && notes[i].storage == storage_number(turn->storage) && notes[i].id_hash == id_hash)
            return &notes[i];
    return NULL;
}

/* Returns the note about a turn's artifact. If there is none, makes one in the place of the oldest. */
static struct note *make_note(const struct ingot_turn *turn)
{
    struct note *note = find_note(turn);
    if (note == NULL) {
        note = &notes[0];
        for (size_t i = 1; i < NOTE_COUNT; ++i)
            if (notes[i].made_ns < note->made_ns)
                note = &notes[i];
        *note = (struct note){.storage = storage_number(turn->storage),
                              .id_hash = checksum_bucket_of(turn->id_size, turn->id)};
    }
    note->made_ns = files_steady_clock_ns();
    return note;
}

static bool is_useless(const struct ingot_turn *turn)
{
    const struct note *note = find_note(turn);
    return note != NULL && files_steady_clock_ns() < note->useless_until_ns;
}

/* Removes a turn from the list and wakes the threads that wait for it. */
static void unlist_turn(struct ingot_turn *turn, bool is_pointless)
{
    struct ingot_turn **at = &first_turn;
    if (is_pointless)
        make_note(turn)->useless_until_ns = files_steady_clock_ns() + USELESS_NS;
    while (*at != turn)
        at = &(*at)->next;
    *at = turn->next;
    turn->is_listed = false;
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
    unlist_turn(turn, end == BUILD_TURN_POINTLESS);
}

/* Ends the turns whose deadlines have passed. Returns the next deadline of a turn, or TURN_NO_TIME. `wanted` is
 * NULL, or only turns for the same artifact count. Requires the lock. */
static uint64_t end_expired_turns(const struct ingot_turn *wanted, bool is_for_processes)
{
    const uint64_t now_ns = files_steady_clock_ns();
    uint64_t next_ns = TURN_NO_TIME;
    struct ingot_turn *turn = first_turn;
    while (turn != NULL) {
        const bool counts = !turn->is_ending && (wanted == NULL || is_for_same_artifact(turn, wanted)) &&
                            (!is_for_processes || turn->build != NULL);
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

static void *watch_listed_turns(void *user)
{
    (void)user;
    take_lock();
    for (;;) {
        const uint64_t next_ns = end_expired_turns(NULL, true);
        if (next_ns == TURN_NO_TIME)
            break;
        lock_wait_until(next_ns);
    }
    has_watcher = false;
    lock_give();
    return NULL;
}

static bool start_watcher(void)
{
    pthread_t thread;
    if (!thread_start(&thread, watch_listed_turns, NULL))
        return false;
    (void)pthread_detach(thread);
    return true;
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

/* Waits until no thread has the turn of this artifact. Requires the lock. */
static enum turn_claim wait_for_threads(const struct ingot_turn *wanted, uint64_t until_ns)
{
    for (;;) {
        const uint64_t deadline_ns = end_expired_turns(wanted, false);
        if (find_same_turn(wanted) == NULL)
            return is_useless(wanted) ? TURN_USELESS : TURN_LOOK;
        if (files_steady_clock_ns() >= until_ns)
            return TURN_BUSY;
        lock_wait_until(deadline_ns < until_ns ? deadline_ns : until_ns);
    }
}

enum turn_claim turn_list_claim(struct ingot_turn *turn, uint64_t until_ns)
{
    enum turn_claim claim = TURN_CLAIMED;
    take_lock();
    if (is_useless(turn)) {
        claim = TURN_USELESS;
    } else if (find_same_turn(turn) != NULL) {
        claim = wait_for_threads(turn, until_ns);
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
    unlist_turn(turn, true);
    lock_give();
}

void turn_list_set_deadline(struct ingot_turn *turn, uint64_t deadline_ns)
{
    take_lock();
    if (turn->is_listed && !turn->is_ending)
        set_deadline(turn, deadline_ns);
    else
        lock_give();
}

void turn_list_end(struct ingot_turn *turn, struct build_turn *build, enum build_turn_end end)
{
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

uint64_t turn_list_wait_since(const struct ingot_turn *turn, uint64_t now_ns)
{
    take_lock();
    struct note *note = find_note(turn);
    const bool continues = note != NULL && note->waited_until_ns != 0 && now_ns - note->waited_until_ns <= WAIT_GAP_NS;
    const uint64_t since_ns = continues ? note->waiting_since_ns : now_ns;
    if (note != NULL)
        note->waited_until_ns = 0;
    lock_give();
    return since_ns;
}

void turn_list_note_wait(const struct ingot_turn *turn, uint64_t since_ns, uint64_t now_ns)
{
    take_lock();
    struct note *note = make_note(turn);
    note->waiting_since_ns = since_ns;
    note->waited_until_ns = now_ns;
    lock_give();
}
