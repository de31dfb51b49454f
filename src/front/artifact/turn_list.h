/*
 * turn_list.h - lists the turns of this process, with the threads that wait for them, and notes of past turns.
 */
#ifndef INGOT_CACHE_ARTIFACT_TURN_LIST_H
#define INGOT_CACHE_ARTIFACT_TURN_LIST_H

#include <ingot/artifact.h>
#include <stdbool.h>

#include "persist/storage/turns/build_turn.h"

#define TURN_NO_TIME UINT64_MAX /* a time that never comes */

struct ingot_turn {
    struct ingot_turn *next;  /* the library's lock guards this field and those up to began_ns */
    bool is_listed;           /* other threads wait for this turn */
    struct build_turn *build; /* the part for other processes and machines; NULL: none */
    uint64_t limit_ns;        /* how long other threads wait after began_ns */
    uint64_t began_ns;        /* TURN_NO_TIME while the thread still waits for another process */
    uint64_t thread;          /* which thread began it; constant, as are all fields that follow */
    unsigned long process;
    ingot_storage_t storage; /* a reference */
    size_t id_size;
    uint8_t id[];
};

/* What a thread should do that needs the turn of an artifact. */
enum turn_claim {
    TURN_CLAIMED, /* the turn is in the list now, and other threads wait for it */
    TURN_LOOK,    /* another thread's turn has ended, so the artifact may be in the storage */
    TURN_BUSY,    /* another thread still has the turn */
    TURN_ALONE    /* waiting is useless or has taken too long: the thread makes the artifact, and nobody waits for it */
};

/* Returns a number of the calling thread that no other thread of the process ever has. */
uint64_t turn_list_thread(void);
/* True if the calling thread has begun a turn for this id, with any storage, that has not ended. */
bool turn_list_is_own(size_t id_size, const uint8_t *id);

/* Adds a turn to the list, or waits for the turn of another thread until until_ns at most. */
enum turn_claim turn_list_claim(struct ingot_turn *turn, uint64_t until_ns);

/* Begins the part of a listed turn for other processes. Other threads wait for limit_ns from then on. */
void turn_list_begin(struct ingot_turn *turn, struct build_turn *build, uint64_t limit_ns);
/* Takes a turn out of the list, because waiting for it is useless. It keeps its part for other processes. */
void turn_list_begin_useless(struct ingot_turn *turn, struct build_turn *build);

/* Ends a turn for all who wait. Also removes a turn that is still waiting for another process; `build` is its part for
 * other processes. */
void turn_list_end(struct ingot_turn *turn, struct build_turn *build, enum build_turn_end end);

/* Returns when a wait of this process for an artifact began: now, unless an earlier call noted a wait that ended a
 * short time ago. turn_list_note_wait notes it. */
uint64_t turn_list_wait_since(const struct ingot_turn *turn, uint64_t now_ns);
void turn_list_note_wait(const struct ingot_turn *turn, uint64_t since_ns, uint64_t now_ns);

#endif
