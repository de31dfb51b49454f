/*
 * transport.h - a protocol by which objects are exchanged with a server: a table of functions, one table per protocol.
 *
 * Any number of threads may call each function at once. A transport takes no lock while it waits for the network.
 */
#ifndef INGOT_REMOTE_BASE_TRANSPORT_H
#define INGOT_REMOTE_BASE_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

#include "remote/base/request.h"

/* Bytes from a server. release is called once, in any thread. */
struct received {
    size_t size;
    const uint8_t *bytes;
    void (*release)(void *owner);
    void *owner;
};

struct transport_ops {
    /* Reads an object of at most max_size bytes. */
    enum outcome (*get)(void *self, struct request *request, const char *key, size_t max_size, struct received *object);
    enum outcome (*put)(void *self, struct request *request, const char *key, size_t size, const uint8_t *bytes);
    /* Removes an object. OUTCOME_MISSING: there was none. */
    enum outcome (*remove)(void *self, struct request *request, const char *key);
    /* Asks whether the server answers, as cheaply as the protocol allows. */
    enum outcome (*probe)(void *self, struct request *request);
    void (*destroy)(void *self);
};

struct transport {
    const struct transport_ops *ops;
    void *self;
};

#endif
