/*
 * base.h - a request, its outcome, and what sends it.
 */
#ifndef INGOT_REMOTE_BASE_BASE_H
#define INGOT_REMOTE_BASE_BASE_H

#include <ingot/storage.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- request.c: describes one request to a server: its time limits, how it ended, and an error message.
 *
 * A request belongs to one thread. It ends early if the storage is being closed. Each wait checks this every 20 ms.
 * Another thread could wake it faster through a file descriptor, but creating one would slow down every request. A
 * server that works answers within 20 ms anyway. */

#define REQUEST_FAILURE_CAPACITY 320u

/* How a request ended. All but the first two are failures. */
enum outcome {
    OUTCOME_DONE,
    OUTCOME_MISSING,     /* the server has no such object */
    OUTCOME_UNREACHABLE, /* no connection, or the connection broke */
    OUTCOME_TIMED_OUT,
    OUTCOME_ENDED,      /* the request ended early; nothing is known about the server */
    OUTCOME_REFUSED,    /* the server rejects the credentials, or the operation */
    OUTCOME_BAD_ANSWER, /* an error of the server, or an invalid answer */
    OUTCOME_TOO_LARGE,  /* the object is larger than the caller's limit */
    OUTCOME_NO_MEMORY,
};

struct request {
    uint64_t began_ns;
    uint64_t ended_ns;         /* 0: it is still going on, or ends when it is settled (tier.h) */
    uint64_t deadline_ns;      /* NS_NEVER: no deadline */
    uint64_t connect_limit_ns; /* how long connecting may take */
    uint64_t stall_limit_ns;   /* how long the request may go on without sending or receiving a byte */
    /* Returns true if the request should end before its deadline. NULL: it never should. */
    bool (*is_ended)(const struct request *request);
    void *owner;     /* a tier, which is_ended uses */
    bool takes_list; /* Redis may answer with a list, which only tools ask for */
    char failure[REQUEST_FAILURE_CAPACITY];
};

bool request_is_ended(const struct request *request);
/* Return the moment at which a wait that begins at now_ns must end: a wait for bytes, or for a connection. */
uint64_t request_stall_moment(const struct request *request, uint64_t now_ns);
uint64_t request_connect_moment(const struct request *request, uint64_t now_ns);

/* How often a wait checks whether its request must end early, in milliseconds. */
#define REQUEST_SLICE_MS 20
/* Returns the time from now to a moment, in milliseconds and rounded up, but at most REQUEST_SLICE_MS. */
int request_slice_ms(uint64_t now_ns, uint64_t moment_ns);

/* Writes the error message to request->failure and returns `outcome`. Control characters in the message become '?'. */
__attribute__((format(printf, 3, 4))) enum outcome request_fail(struct request *request, enum outcome outcome,
                                                                const char *format, ...);

/* ---- the interface of a protocol that exchanges objects with a server: a table of functions per protocol.
 *
 * Any number of threads may call each function at once. A transport holds no lock while it waits for the network. */

#define LEASE_TOKEN_CAPACITY 33u /* 32 hexadecimal digits and a NUL */
#define TRANSPORT_CURSOR_CAPACITY 72u
#define LEASE_POINTLESS "-" /* the value of a lease that says that waiting is useless */

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
    /* Visits some keys, perhaps twice, and moves the cursor, which is "" at first and after the last ones. NULL: the
     * protocol cannot list objects. */
    enum outcome (*list)(void *self, struct request *request, char cursor[TRANSPORT_CURSOR_CAPACITY],
                         void (*visit)(void *user, const char *key), void *user);

    /* Operations on leases; all are NULL if the protocol has none. A lease is a text that belongs to a key of an object
     * and expires: the random token of its holder, or LEASE_POINTLESS. */

    /* Sets the lease if there is none. OUTCOME_MISSING: there is one. */
    enum outcome (*take_lease)(void *self, struct request *request, const char *key, const char *token,
                               uint64_t time_ms);
    /* Reads the lease. OUTCOME_MISSING: there is none. */
    enum outcome (*read_lease)(void *self, struct request *request, const char *key, char token[LEASE_TOKEN_CAPACITY]);
    /* Makes the lease expire time_ms from now. OUTCOME_MISSING: there is none. */
    enum outcome (*extend_lease)(void *self, struct request *request, const char *key, uint64_t time_ms);
    /* Removes the lease. With pointless_ms, replaces it by LEASE_POINTLESS for this time instead. */
    enum outcome (*end_lease)(void *self, struct request *request, const char *key, uint64_t pointless_ms);

    /* Operations on wishes, ids of programs that someone wants (doc/builders.md); NULL if the protocol keeps none. */

    /* Leaves a wish. OUTCOME_MISSING: there is one already. */
    enum outcome (*leave_wish)(void *self, struct request *request, size_t size, const uint8_t *id);
    /* Takes the oldest wish, and waits for one for at most wait_ms. OUTCOME_MISSING: there was none. */
    enum outcome (*take_wish)(void *self, struct request *request, uint64_t wait_ms, ingot_buffer_t *id);
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
