/*
 * lease_keeper.h - a tier's second thread: renews its leases, and ends them after their uploads.
 */
#ifndef INGOT_REMOTE_TIER_LEASE_KEEPER_H
#define INGOT_REMOTE_TIER_LEASE_KEEPER_H

#include "remote/tier/tier.h"

/* Makes a lease that is not in the list yet, and starts the thread if it is not running. Returns NULL if out of
 * memory or if the tier is ending. */
struct lease *lease_keeper_make(struct tier *tier, const char *key, const char *token);
/* Adds a lease that the server gave to a request that began at this moment. The thread frees the lease after ending
 * it. */
void lease_keeper_add(struct tier *tier, struct lease *lease, uint64_t began_ns);
/* Ends the thread, and all leases as far as there is time to lose. Later calls do nothing. */
void lease_keeper_finish(struct tier *tier);

#endif
