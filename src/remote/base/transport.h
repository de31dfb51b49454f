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
#define TRANSPORT_CURSOR_CAPACITY 72u
#define LEASE_POINTLESS "-" /* the value of a lease that says that waiting is useless */

/* Operations on leases. A lease is a text that belongs to a key of an object and expires: the random token of its
 * holder, or LEASE_POINTLESS. */
struct lease_transport_ops {
    /* Sets the lease if there is none. OUTCOME_MISSING: there is one. */
    enum outcome (*take)(void *self, struct request *request, const char *key, const char *token, uint64_t time_ms);
    /* Reads the lease. OUTCOME_MISSING: there is none. */
    enum outcome (*read)(void *self, struct request *request, const char *key, char token[LEASE_TOKEN_CAPACITY]);
    /* Makes the lease expire time_ms from now. OUTCOME_MISSING: there is none. */
    enum outcome (*extend)(void *self, struct request *request, const char *key, uint64_t time_ms);
    /* Removes the lease. With pointless_ms, replaces it by LEASE_POINTLESS for this time instead. */
    enum outcome (*end)(void *self, struct request *request, const char *key, uint64_t pointless_ms);
};

/* Operations on wishes, ids of programs that someone wants (doc/builders.md). */
struct wish_transport_ops {
    /* Leaves a wish. OUTCOME_MISSING: there is one already. */
    enum outcome (*leave)(void *self, struct request *request, size_t size, const uint8_t *id);
    /* Takes the oldest wish, and waits for one for at most wait_ms. OUTCOME_MISSING: there was none. */
    enum outcome (*take)(void *self, struct request *request, uint64_t wait_ms, ingot_buffer_t *id);
};

/* The functions of one protocol. `self` is the `self` of the transport. */
struct transport_ops {
    /* Reads an object of at most max_size bytes. OUTCOME_MISSING: there is none. */
    enum outcome (*get)(void *self, struct request *request, const char *key, size_t max_size, ingot_buffer_t *object);
    enum outcome (*put)(void *self, struct request *request, const char *key, size_t size, const uint8_t *bytes);
    /* Removes an object. OUTCOME_MISSING: there was none. */
    enum outcome (*remove)(void *self, struct request *request, const char *key);
    /* Asks whether there is an object. OUTCOME_MISSING: there is none. */
    enum outcome (*has)(void *self, struct request *request, const char *key);
    /* Asks whether the server answers, as cheaply as the protocol allows. */
    enum outcome (*probe)(void *self, struct request *request);
    void (*destroy)(void *self);
    const struct lease_transport_ops *leases; /* NULL: the protocol has no leases */
    /* Visits some keys, perhaps twice, and moves the cursor, which is "" at first and after the last ones. NULL: the
     * protocol cannot list objects. */
    enum outcome (*list)(void *self, struct request *request, char cursor[TRANSPORT_CURSOR_CAPACITY],
                         void (*visit)(void *user, const char *key), void *user);
    const struct wish_transport_ops *wishes; /* NULL: the protocol keeps no wishes */
};

/* A protocol, ready to exchange objects with one server. */
struct transport {
    const struct transport_ops *ops;
    void *self;
};

struct access;

/* Open a transport: to Redis and Valkey by plain commands, or to HTTP servers by GET, PUT, DELETE and HEAD, also with
 * the signatures of S3; doc/remote-format.md specifies the names of objects. Neither connects yet. access, name_space:
 * valid as long as the transport. time_to_live_s: how long the server keeps an object; 0: no limit.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_OUT_OF_MEMORY */
ingot_status_t redis_open(struct transport *transport, const struct access *access, const char *name_space,
                          uint64_t time_to_live_s);
ingot_status_t http_open(struct transport *transport, const struct access *access, const char *name_space);

#endif
