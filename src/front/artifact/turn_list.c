/*
 * turn_list.c - lists the turns of this process; see turn_list.h.
 *
 * A turn in the list belongs to a thread that waits for other processes, or to a maker. Other threads that need the
 * same artifact from the same storage wait until none is in the list, so only one thread per process takes part in the
 * competition between processes. A turn ends with its maker. A thread that has waited for too long makes the artifact
 * itself.
 *
 * If waiting for an artifact is useless, its turns are not in the list, and that is noted for some time. Otherwise, a
 * thread that comes later would be listed, and those that come after it would wait for it.
 *
 * After a fork, the child has none of its parent's turns in the list.
 *
 * The library's lock guards everything here. It is held for a few instructions, and not while a turn is ended for other
 * processes.
 */
#include "front/artifact/turn_list.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "front/lock.h"
#include "persist/base/checksum.h"
#include "persist/base/files.h"
#include "persist/storage/storage.h"
#include "util/nanoseconds.h"
#include "util/process_number.h"

#define BIN_COUNT 64u
#define USELESS_NS (60 * NS_PER_SECOND)  /* the reason may be temporary */
#define WAIT_GAP_NS (10 * NS_PER_SECOND) /* a later wait for the same artifact does not continue an earlier one */

/* What is known about an artifact whose turn has ended, or has not begun. It is freed some time after it has become
 * meaningless. */
struct note {
    struct note *next;
    uint64_t storage; /* storage_number(): unique in this process */
    uint64_t id_hash;
    uint64_t useless_until_ns; /* waiting for the artifact is useless until then; 0: it is not */
    uint64_t waiting_since_ns; /* a wait for another process, which may consist of several calls, began then */
    uint64_t waited_until_ns;  /* its last call so far ended then; 0: there was none */
};

static struct ingot_turn *first_turn;
static struct note *notes[BIN_COUNT]; /* by the hash of the id */
static unsigned long owner;           /* the process of all this */

/* Takes the lock. In a forked child, drops what belongs to the parent. */
static void take_lock(void)
{
    lock_take();
    if (owner == process_number())
        return;
    owner = process_number();
    first_turn = NULL;
}

uint64_t turn_list_thread(void)
{
    static _Atomic uint64_t thread_count;
    static _Thread_local uint64_t own;
    if (own == 0)
        own = atomic_fetch_add_explicit(&thread_count, 1, memory_order_relaxed) + 1;
    return own;
}

static bool has_id(const struct ingot_turn *turn, size_t id_size, const uint8_t *id)
{
    return turn->id_size == id_size && memcmp(turn->id, id, id_size) == 0;
}

bool turn_list_is_own(size_t id_size, const uint8_t *id)
{
    take_lock();
    const struct ingot_turn *turn = first_turn;
    while (turn != NULL && (turn->thread != turn_list_thread() || !has_id(turn, id_size, id)))
        turn = turn->next;
    lock_give();
    return turn != NULL;
}

static struct ingot_turn *find_same_turn(const struct ingot_turn *wanted)
{
    struct ingot_turn *turn = first_turn;
    while (turn != NULL && (turn->storage != wanted->storage || !has_id(turn, wanted->id_size, wanted->id)))
        turn = turn->next;
    return turn;
}

/* ---- notes; all of these functions require the lock ---- */

static bool is_meaningless(const struct note *note, uint64_t now_ns)
{
    return now_ns >= note->useless_until_ns && now_ns - note->waited_until_ns > WAIT_GAP_NS;
}

/* Returns the note about a turn's artifact, or NULL. If `makes` is true, makes the note, and frees those that have
 * become meaningless; it is NULL then only if there is no memory. */
static struct note *find_note(const struct ingot_turn *turn, bool makes)
{
    const uint64_t id_hash = checksum_bucket_of(turn->id_size, turn->id);
    const uint64_t storage = storage_number(turn->storage);
    const uint64_t now_ns = makes ? files_steady_clock_ns() : 0;
    struct note **bin = &notes[id_hash % BIN_COUNT];
    struct note **at = bin;
    while (*at != NULL) {
        struct note *note = *at;
        if (note->storage == storage && note->id_hash == id_hash)
            return note;
        if (makes && is_meaningless(note, now_ns)) {
            *at = note->next;
            free(note);
        } else {
            at = &note->next;
        }
    }
    struct note *made = makes ? calloc(1, sizeof(*made)) : NULL;
    if (made != NULL) {
        *made = (struct note){.next = *bin, .storage = storage, .id_hash = id_hash};
        *bin = made;
    }
    return made;
}

static bool is_useless(const struct ingot_turn *turn)
{
    const struct note *note = find_note(turn, false);
    return note != NULL && files_steady_clock_ns() < note->useless_until_ns;
}

uint64_t turn_list_wait_since(const struct ingot_turn *turn, uint64_t now_ns)
{
    take_lock();
    struct note *note = find_note(turn, false);
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
    struct note *note = find_note(turn, true);
    if (note != NULL) {
        note->waiting_since_ns = since_ns;
        note->waited_until_ns = now_ns;
    }
    lock_give();
}

/* ---- turns ---- */

/* Removes a turn from the list and wakes the threads that wait for it. Requires the lock. */
static void unlist_turn(struct ingot_turn *turn, bool is_pointless)
{
    struct ingot_turn **at = &first_turn;
    struct note *note = is_pointless ? find_note(turn, true) : NULL;
    if (note != NULL)
        note->useless_until_ns = files_steady_clock_ns() + USELESS_NS;
    while (*at != turn)
        at = &(*at)->next;
    *at = turn->next;
    turn->is_listed = false;
    lock_wake();
}

/* Waits until no thread has the turn of this artifact. Requires the lock. */
static enum turn_claim wait_for_threads(const struct ingot_turn *wanted, uint64_t until_ns)
{
    for (;;) {
        const struct ingot_turn *turn = find_same_turn(wanted);
        if (turn == NULL)
            return is_useless(wanted) ? TURN_ALONE : TURN_LOOK;
        const uint64_t now_ns = files_steady_clock_ns();
        const bool is_limited = turn->began_ns != TURN_NO_TIME && turn->limit_ns < TURN_NO_TIME - turn->began_ns;
        const uint64_t late_ns = is_limited ? turn->began_ns + turn->limit_ns : TURN_NO_TIME;
        if (now_ns >= late_ns)
            return TURN_ALONE;
        if (now_ns >= until_ns)
            return TURN_BUSY;
        lock_wait_until(late_ns < until_ns ? late_ns : until_ns);
    }
}

enum turn_claim turn_list_claim(struct ingot_turn *turn, uint64_t until_ns)
{
    enum turn_claim claim = TURN_CLAIMED;
    take_lock();
    if (is_useless(turn)) {
        claim = TURN_ALONE;
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
    lock_wake(); /* those who wait learn the limit */
    lock_give();
}

void turn_list_begin_useless(struct ingot_turn *turn, struct build_turn *build)
{
    take_lock();
    turn->build = build;
    turn->began_ns = files_steady_clock_ns();
    unlist_turn(turn, true);
    lock_give();
}

/* Other processes get the turn first, because a thread of this process could not take their lock before. */
void turn_list_end(struct ingot_turn *turn, struct build_turn *build, enum build_turn_end end)
{
    build_turn_end(build != NULL ? build : turn->build, end);
    turn->build = NULL;
    take_lock();
    if (turn->is_listed)
        unlist_turn(turn, end == BUILD_TURN_POINTLESS);
    lock_give();
}
