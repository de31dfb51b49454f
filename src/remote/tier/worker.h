/*
 * worker.h - the tier's thread: uploads, removes, and probes a server that failed.
 */
#ifndef INGOT_REMOTE_TIER_WORKER_H
#define INGOT_REMOTE_TIER_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "remote/tier/tier.h"

/* Starts the thread if it does not run and the tier has not finished. If there is no memory for it, an event tells. */
void worker_ensure(struct tier *tier);

/* Waits until nothing is to be uploaded anymore. False: the moment came first, or the server is not asked. */
bool worker_wait(struct tier *tier, uint64_t moment_ns);

/* Ends the thread at once. Drops the uploads that still wait; an event tells how many. Later calls do nothing. */
void worker_finish(struct tier *tier);

#endif
