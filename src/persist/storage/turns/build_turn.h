/*
 * build_turn.h - decides which thread of which process builds a program, or makes an artifact, that several request at
 * once.
 *
 * One builds the program, and the others wait for its blob. This only saves time: if the wait does not bring a
 * blob, the one who waits builds the program, too.
 */
#ifndef INGOT_PERSIST_STORAGE_TURNS_BUILD_TURN_H
#define INGOT_PERSIST_STORAGE_TURNS_BUILD_TURN_H

#include <ingot/storage.h>
#include <stdbool.h>

struct build_turn;
struct build_permit;

/* For whom a turn of a program waits. */
enum build_turn_wait {
    BUILD_TURN_FOR_PROCESSES,
    BUILD_TURN_FOR_ALL, /* also for threads of this process */
    BUILD_TURN_FOR_NONE /* if somebody has the turn, or waiting is useless, build_turn_is_busy is true at once */
};

/* What a turn has led to. The storage now has the program, or not. */
enum build_turn_end {
    BUILD_TURN_LOADED,     /* the thread loaded the program that another process had stored */
    BUILD_TURN_STORED,     /* the thread built and stored the program */
    BUILD_TURN_NOT_STORED, /* the program was not stored, for a temporary reason, so another process should try */
    BUILD_TURN_POINTLESS   /* the program does not compile, or the store does not take it */
};

/* Begins a turn for a program whose blob is missing from the storage or was refused. The same thread must end the turn.
 * Returns NULL if memory runs out; the caller then builds the program. */
struct build_turn *build_turn_begin(ingot_storage_t storage, size_t id_size, const uint8_t *id, bool was_refused,
                                    enum build_turn_wait wait);
/* Does the same for an artifact. Any thread may end the turn. until_ns: build_turn_wait then returns even if another
 * maker still has the turn. */
struct build_turn *build_turn_begin_artifact(ingot_storage_t storage, size_t id_size, const uint8_t *id,
                                             bool was_refused, uint64_t until_ns);
/* Returns true, possibly after a wait, if another thread or process may have stored the program. The caller should then
 * try to load it from the storage, and call this function again if it is not there. Returns false if the caller should
 * build the program. */
bool build_turn_wait(struct build_turn *turn);
/* True if build_turn_wait has returned because of `until_ns`, or because the turn waits for nobody. */
bool build_turn_is_busy(const struct build_turn *turn);
/* Ends a turn. Does nothing if turn is NULL. */
void build_turn_end(struct build_turn *turn, enum build_turn_end end);

/* If the store limits how many builds run at the same time, waits for a place. Afterwards the thread may compile.
 * Returns NULL if builds are not limited, or if the limit is unusable. The same thread gives the permit back. */
struct build_permit *build_permit_take(ingot_storage_t storage);
/* Does nothing for NULL. */
void build_permit_give(struct build_permit *permit);

#endif
