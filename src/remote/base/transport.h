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
    LEASE_IS_TAKEN,    /* this request took the lease */
    LEASE_IS_BUSY,     /* another token has it */
    LEASE_IS_STORED,   /* the key already has an object */
    LEASE_IS_POINTLESS /* a machine has reported that waiting is useless */
};

#define LEASE_TIME_UNKNOWN UINT64_MAX /* the client has no right to ask how long a lease lasts */
#define LEASE_TIME_NO_END (UINT64_MAX - 1)

/* Operations on leases. A key has at most one lease, which belongs to a token and expires after time_ms. */
struct lease_transport_ops {
    /* Requests a lease. is_object_useless: takes the lease even if the key already has an object. left_ms: for
     * LEASE_IS_BUSY, how long the lease lasts unless it is renewed, or one of the two values above. */
    enum outcome (*take)(void *self, struct request *request, const char *key, const char *token, uint64_t time_ms,
                         bool is_object_useless, enum lease_answer *answer, uint64_t *left_ms);
    /* Extends a lease to time_ms from now. OUTCOME_MISSING: the token no longer has the lease. */
    enum outcome (*renew)(void *self, struct request *request, const char *key, const char *token, uint64_t time_ms);
    /* Ends a lease that the token has. pointless_ms: for how long the server then tells other machines that waiting is
     * useless; 0: it does not tell them. */
    enum outcome (*end)(void *self, struct request *request, const char *key, const char *token, uint64_t pointless_ms);
};

/* An object that is read, perhaps together with others. */
struct fetch {
    const char *key;
    size_t max_size;
    struct request request; /* with its own time limits */
    uint64_t began_ns;      /* when its time began; a protocol that answers in order moves this and the deadline */
    uint64_t ended_ns;      /* the protocol sets ended_ns, outcome and object */
    enum outcome outcome;
    ingot_buffer_t object; /* valid for OUTCOME_DONE */
};

struct transport_ops {
    size_t most; /* the most objects in one call to get */
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
    const struct lease_transport_ops *leases; /* NULL: the protocol has none */
};

struct transport {
    const struct transport_ops *ops;
    void *self;
};

#endif
