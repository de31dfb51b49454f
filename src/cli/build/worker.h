/*
 * worker.h - the work of a worker process: lists the devices, then answers one request after another.
 */
#ifndef INGOT_CLI_BUILD_WORKER_H
#define INGOT_CLI_BUILD_WORKER_H

#include "cli/base/options.h"
#include "cli/build/plan.h"

/* Set in the parent; the child has a copy. */
struct worker_setup {
    const struct plan *plan;
    const struct common_options *options; /* they name the store, which exists, but not its namespace */
    bool asks_server;                     /* asks the server that the environment names before it compiles */
    bool is_pull;                         /* compiles nothing */
};

/* A process_body_t whose user is a struct worker_setup. Ends when the other end of the socket is shut down. */
void worker_run(int socket, void *user);

#endif
