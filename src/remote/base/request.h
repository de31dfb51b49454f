/*
 * request.h - describes one request to a server: its time limits, how it ended, and an error message.
 *
 * A request belongs to one thread. It ends early if the storage is being closed. Each wait checks this every 20 ms.
 * Another thread could wake it faster through a file descriptor, but creating one would slow down every request. A
 * server that works answers within 20 ms anyway.
 */
#ifndef INGOT_REMOTE_BASE_REQUEST_H
#define INGOT_REMOTE_BASE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
