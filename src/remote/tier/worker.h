/*
 * worker.h - the tier's thread, which uploads and removes blobs, extends and ends leases, and asks a server that has
 * failed. It runs only while there is something to do.
 */
#ifndef INGOT_REMOTE_TIER_WORKER_H
#define INGOT_REMOTE_TIER_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "remote/tier/tier.h"

/* Waits until the uploads and removals that are pending now are done and, with with_leases, ended leases are ended on
 * the server. Returns false as soon as uploads wait after a failure, or if something is still pending at `moment_ns`.
 */
bool worker_wait(struct tier *tier, uint64_t moment_ns, bool with_leases);

/* Lets the thread work for as long as the tier's exit time and the time that may be lost allow, and then ends it. Drops
 * the pending uploads; an event reports how many. */
void worker_finish(struct tier *tier);

#endif
