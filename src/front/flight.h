/*
 * flight.h - lets one thread of the process look for a program while others that want the same program wait.
 *
 * The in-memory cache of the core does this for threads that share an Ingot context. Requests of this library do not,
 * because each has its own context. Processes wait for each other in persist.
 */
#ifndef INGOT_CACHE_FLIGHT_H
#define INGOT_CACHE_FLIGHT_H

#include <ingot/storage.h>
#include <stdbool.h>

/* A request in progress. It lives on the stack of its thread. */
struct flight {
    struct flight *next;
    ingot_storage_t storage;
    size_t id_size;
    const uint8_t *id; /* lives until the flight ends */
    bool has_begun;
};

/* Begins the flight of an id. If another thread's flight of the same id is in progress, waits for its end instead. The
 * thread then looks in the storage, where it usually finds the program. A thread that has a flight never waits, so that
 * an event callback that requests a program cannot wait for its own thread. The caller must call flight_end. */
void flight_begin(struct flight *flight, ingot_storage_t storage, size_t id_size, const uint8_t *id);
void flight_end(struct flight *flight);

#endif
