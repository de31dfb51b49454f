/*
 * request.h - one request to a server: its time limits, why it may end early, how it ended, and a sentence about that.
 *
 * A request belongs to one thread. Its owner may end it early: if the breaker opens in the meantime because another
 * request found the server unusable, or if the storage ends.
 */
#ifndef INGOT_REMOTE_BASE_REQUEST_H
#define INGOT_REMOTE_BASE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REQUEST_FAILURE_CAPACITY 320u

/* How a request ended. Only the first two are answers to the question. */
enum outcome {
    OUTCOME_DONE,
    OUTCOME_MISSING,     /* the server has no such object */
    OUTCOME_UNREACHABLE, /* no connection, or it broke */
    OUTCOME_TIMED_OUT,
    OUTCOME_ENDED,      /* it ended early; nothing is known about the server */
    OUTCOME_REFUSED,    /* the server rejects the credentials, or the operation */
    OUTCOME_BAD_ANSWER, /* an error of the server, or an invalid answer */
    OUTCOME_TOO_LARGE,  /* an object over the limit */
    OUTCOME_NO_MEMORY,
};

struct request {
    uint64_t deadline_ns;      /* CLOCK_NEVER: none */
    uint64_t connect_limit_ns; /* a time span, like the next one */
    uint64_t stall_limit_ns;   /* without a byte */
    /* True if the request should end before its time is over. NULL: it never should. */
    bool (*is_ended)(const struct request *request);
    const void *owner; /* for is_ended, like the next one */
    unsigned trips_before;
    char failure[REQUEST_FAILURE_CAPACITY];
};

bool request_is_ended(const struct request *request);
/* Returns the moment at which a wait that begins now must end. */
uint64_t request_stall_moment(const struct request *request, uint64_t now_ns);
uint64_t request_connect_moment(const struct request *request, uint64_t now_ns);

/* Sets the sentence and returns the outcome. */
__attribute__((format(printf, 3, 4))) enum outcome request_fail(struct request *request, enum outcome outcome,
                                                                const char *format, ...);

#endif
