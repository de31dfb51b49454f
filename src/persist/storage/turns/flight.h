/*
 * flight.h - lets one thread of the process make what an id of a storage stands for, while other threads wait.
 *
 * A flight is the part of a turn (build_turn.h) within the process, for programs and artifacts. The in-memory cache of
 * the core has flights of its own, for threads that share an Ingot context.
 */
#ifndef INGOT_PERSIST_STORAGE_TURNS_FLIGHT_H
#define INGOT_PERSIST_STORAGE_TURNS_FLIGHT_H

#include <ingot/storage.h>
#include <stdbool.h>

#define FLIGHT_NO_TIME UINT64_MAX /* a time that never comes */

struct flight {
    struct flight *next; /* a lock guards this field and those up to began_ns */
    bool is_listed;      /* other threads wait for this flight */
    uint64_t limit_ns;   /* how long they wait after began_ns */
    uint64_t began_ns;   /* FLIGHT_NO_TIME while the thread still waits for another process */
    uint64_t thread;     /* which thread made it; constant, as are all fields that follow */
    uint64_t storage;    /* its number */
    size_t id_size;
    const uint8_t *id; /* lives as long as the flight */
};

/* What a thread should do that has missed an id. */
enum flight_claim {
    FLIGHT_CLAIMED, /* the flight is in the list now, and other threads wait for it */
    FLIGHT_LOOK,    /* another thread's flight has ended, so the storage may have the id */
    FLIGHT_BUSY,    /* another thread's flight goes on after until_ns */
    FLIGHT_ALONE    /* waiting is useless or has taken too long: the thread makes it, and nobody waits for it */
};

void flight_init(struct flight *flight, ingot_storage_t storage, size_t id_size, const uint8_t *id);

/* Adds a flight to the list. If another thread's is there, waits for its end until until_ns at most, or not at all if
 * may_wait is false. */
enum flight_claim flight_claim(struct flight *flight, bool may_wait, uint64_t until_ns);
/* Lets other threads wait for limit_ns from now on. */
void flight_begin(struct flight *flight, uint64_t limit_ns);
/* Takes the flight out of the list, if it is there, and wakes those who wait. is_pointless: waiting for this id is
 * useless for some time. */
void flight_end(struct flight *flight, bool is_pointless);

/* Returns when a wait of this process for other processes began: now, unless an earlier call noted a wait for the same
 * id that ended a short time ago. flight_note_wait notes it. */
uint64_t flight_wait_since(const struct flight *flight, uint64_t now_ns);
void flight_note_wait(const struct flight *flight, uint64_t since_ns, uint64_t now_ns);

#endif
