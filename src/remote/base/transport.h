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

#define LEASE_TOKEN_CAPACITY 33u /* 32 hexadecimal digits and a NUL */

/* What a server answers to a request for a lease. */
enum lease_answer {
    LEASE_IS_TAKEN,    /* by this request */
    LEASE_IS_BUSY,     /* another token has it */
    LEASE_IS_STORED,   /* the key has an object */
    LEASE_IS_POINTLESS /* a machine has reported that waiting is useless */
};

/* Leases of keys. A lease belongs to a token, and ends by itself after time_ms. */
struct lease_transport_ops {
    /* is_object_useless: ignores an existing object of the key. */
    enum outcome (*take)(void *self, struct request *request, const char *key, const char *token, uint64_t time_ms,
                         bool is_object_useless, enum lease_answer *answer);
    /* Makes a lease last for time_ms from now. OUTCOME_MISSING: the token no longer has it. */
    enum outcome (*renew)(void *self, struct request *request, const char *key, const char *token, uint64_t time_ms);
    /* Ends a lease that the token has. pointless_ms: for how long others are told that waiting is useless; 0: they
     * are not told. */
    enum outcome (*end)(void *self, struct request *request, const char *key, const char *token, uint64_t pointless_ms);
};

/* One of several objects that are read together. */
struct fetch {
    const char *key;
    size_t max_size;
    struct request request; /* its own time limits */
    uint64_t began_ns;      /* when its time begins; a protocol that answers in order moves this and the deadline */
    uint64_t ended_ns;      /* set by the protocol, like the next two */
    enum outcome outcome;
    struct received object; /* valid for OUTCOME_DONE */
};

/* Reads of several objects. */
struct group_transport_ops {
    size_t most; /* objects at once */
    /* Reads objects. Returns how many of the first ones have ended, which is at least one. After a failure, the
     * protocol need not ask for the later ones. */
    size_t (*get)(void *self, size_t count, struct fetch *fetches);
};

struct transport_ops {
    /* Reads an object of at most max_size bytes. */
    enum outcome (*get)(void *self, struct request *request, const char *key, size_t max_size, struct received *object);
    enum outcome (*put)(void *self, struct request *request, const char *key, size_t size, const uint8_t *bytes);
    /* Removes an object. OUTCOME_MISSING: there was none. */
    enum outcome (*remove)(void *self, struct request *request, const char *key);
    /* Asks whether there is an object. OUTCOME_MISSING: there is none. */
    enum outcome (*has)(void *self, struct request *request, const char *key);
    /* Asks whether the server answers, as cheaply as the protocol allows. */
    enum outcome (*probe)(void *self, struct request *request);
    void (*destroy)(void *self);
    const struct lease_transport_ops *leases; /* NULL: the protocol has none */
    const struct group_transport_ops *groups;
};

struct transport {
    const struct transport_ops *ops;
    void *self;
};

#endif
