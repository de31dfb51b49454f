/*
 * message.h - the messages between `ingot build` and its workers: one packet per message, over a socket pair.
 *
 * Both ends are the same program, so a message is sent as the bytes of the struct. A driver may overwrite any memory of
 * its worker, so the receiver checks sizes and ranges, and terminates each text with a NUL.
 */
#ifndef INGOT_CLI_BUILD_MESSAGE_H
#define INGOT_CLI_BUILD_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

enum { MESSAGE_TEXT_SIZE = 2048 };

enum message_kind {
    MESSAGE_DEVICE, /* from a worker: a device, with its text */
    MESSAGE_READY,  /* from a worker: it has sent all devices */
    MESSAGE_JOB,    /* to a worker: build a request for a device */
    MESSAGE_RESULT, /* from a worker: how the job ended */
    MESSAGE_KIND_COUNT
};

/* How a job ended. A worker sends the first six. */
enum outcome {
    OUTCOME_BUILT,     /* the program was compiled, and the store has it */
    OUTCOME_PULLED,    /* the server had it, and now the store has it */
    OUTCOME_PRESENT,   /* the store already had it */
    OUTCOME_FAILED,    /* the program does not compile, or cannot be cached */
    OUTCOME_UNSTORED,  /* the program was compiled, but the store did not take it */
    OUTCOME_MISSING,   /* the server does not have the program */
    OUTCOME_CRASHED,   /* the worker crashed */
    OUTCOME_TIMED_OUT, /* the worker was killed at the time limit */
    OUTCOME_TOO_LARGE, /* the worker was killed at the memory limit */
    OUTCOME_COUNT
};

/* A message between the tool and a worker process. */
struct message {
    uint32_t kind;     /* enum message_kind */
    uint32_t outcome;  /* enum outcome, of a result */
    uint32_t request;  /* of a job and its result: index of the request in the plan */
    uint32_t device;   /* index of the device; also set in MESSAGE_DEVICE */
    uint64_t build_ns; /* of a result: how long it took to compile; 0: unknown */
    uint64_t blob_bytes;
    char text[MESSAGE_TEXT_SIZE]; /* the text of a device, or why a job failed */
};

/* Sends a message. Returns false if the other end is closed or has no room. */
bool message_send(int socket, const struct message *message);
/* Waits for a message. Returns false at the end of the stream, and for anything that is not a message. */
bool message_receive(int socket, struct message *message);

#endif
