/*
 * transport.h - the interface of a protocol that exchanges objects with a server: a table of functions per protocol.
 *
 * Any number of threads may call each function at once. A transport holds no lock while it waits for the network.
 */
#ifndef INGOT_REMOTE_BASE_TRANSPORT_H
#define INGOT_REMOTE_BASE_TRANSPORT_H

#include <ingot/storage.h>
#include <stddef.h>
#include <stdint.h>

#include "remote/base/request.h"

#define LEASE_TOKEN_CAPACITY 33u /* 32 hexadecimal digits and a NUL */

/* A server's answer to a request for a lease. */
enum lease_answer {
    LEASE_IS_TAKEN,    /* the requester now has the lease */
    LEASE_IS_BUSY,     /* another machine or process has the lease */
    LEASE_IS_STORED,   /* no lease was given, because the key already has an object */
    LEASE_IS_POINTLESS /* no lease was given, because a machine has reported that waiting for this key is useless */
};

/* Values for the time that is left of a lease. */
#define LEASE_TIME_UNKNOWN UINT64_MAX      /* the server does not allow this client to ask for the time */
#define LEASE_TIME_NO_END (UINT64_MAX - 1) /* the lease does not expire */

/* Operations on leases. A key has at most one lease at a time, and the lease expires after time_ms. The token is a
 * random text that tells whose lease it is. */
struct lease_transport_ops {
    /* Requests the lease of a key. If is_object_useless, requests it even if the key already has an object. For
     * LEASE_IS_BUSY, sets *left_ms to the time until the lease expires unless it is renewed, or to one of the two
     * values above. */
    enum outcome (*take)(void *self, struct request *request, const char *key, const char *token, uint64_t time_ms,
                         bool is_object_useless, enum lease_answer *answer, uint64_t *left_ms);
    /* Makes a lease expire time_ms from now. OUTCOME_MISSING: the lease has expired, or belongs to another token. */
    enum outcome (*renew)(void *self, struct request *request, const char *key, const char *token, uint64_t time_ms);
    /* Ends the lease if it still belongs to the token. For pointless_ms after that, the server answers requests for the
     * key's lease with LEASE_IS_POINTLESS. */
    enum outcome (*end)(void *self, struct request *request, const char *key, const char *token, uint64_t pointless_ms);
};

/* A request to read an object, and its result. */
struct fetch {
    const char *key;
    size_t max_size;
    struct request request; /* with its own time limits */
    uint64_t began_ns; /* when the time limits began; a protocol that answers in order moves this and the deadline */
    uint64_t ended_ns; /* the protocol sets this and the next two */
    enum outcome outcome;
    ingot_buffer_t object; /* valid for OUTCOME_DONE */
};

/* The functions of one protocol. `self` is the `self` of the transport. */
struct transport_ops {
    size_t most; /* the maximum number of objects in one call of get */
    /* Reads objects. Returns n if the first n reads have ended, successfully or not; n is at least 1. After a failure,
     * the protocol need not request the remaining objects. */
    size_t (*get)(void *self, size_t count, struct fetch *fetches);
    enum outcome (*put)(void *self, struct request *request, const char *key, size_t size, const uint8_t *bytes);
    /* Removes an object. OUTCOME_MISSING: there was none. */
    enum outcome (*remove)(void *self, struct request *request, const char *key);
    /* Asks whether there is an object. OUTCOME_MISSING: there is none. */
    enum outcome (*has)(void *self, struct request *request, const char *key);
    /* Asks whether the server answers, as cheaply as the protocol allows. */
    enum outcome (*probe)(void *self, struct request *request);
    void (*destroy)(void *self);
    const struct lease_transport_ops *leases; /* NULL: the protocol has no leases */
};

/* A protocol, ready to exchange objects with one server. */
struct transport {
    const struct transport_ops *ops;
    void *self;
};

#endif
