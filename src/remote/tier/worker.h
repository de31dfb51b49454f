/*
 * worker.h - the tier's thread, which uploads and removes blobs, renews leases, and probes a server that has failed.
 */
#ifndef INGOT_REMOTE_TIER_WORKER_H
#define INGOT_REMOTE_TIER_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "remote/tier/tier.h"

/* Starts the thread if it is not running and the tier has not finished. If that fails, an event reports it. Returns
 * true if the thread is running. */
bool worker_ensure(struct tier *tier);

/* Waits until the uploads and removals that are pending now are done. Returns false as soon as the breaker opens, or if
 * one of them is still pending at `moment_ns`. */
bool worker_wait(struct tier *tier, uint64_t moment_ns);

/* Ends the thread immediately, and then the leases. Drops the pending uploads; an event reports how many. Later calls
 * do nothing. */
void worker_finish(struct tier *tier);

#endif
