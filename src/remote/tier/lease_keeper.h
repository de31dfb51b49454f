/*
 * lease_keeper.h - a tier's second thread, which renews the tier's leases and ends them after their uploads.
 */
#ifndef INGOT_REMOTE_TIER_LEASE_KEEPER_H
#define INGOT_REMOTE_TIER_LEASE_KEEPER_H

#include "remote/tier/tier.h"

/* Creates a lease without adding it to the list, and starts the thread if it is not running. Returns NULL if out of
 * memory or if the tier is ending. */
struct lease *lease_keeper_make(struct tier *tier, const char *key, const char *token);
/* Adds a lease that the server has given. began_ns: when the request began. The thread frees the lease after ending
 * it. */
void lease_keeper_add(struct tier *tier, struct lease *lease, uint64_t began_ns);
/* Ends the thread, and then as many leases as the guard's time allows. Later calls do nothing. */
void lease_keeper_finish(struct tier *tier);

#endif
