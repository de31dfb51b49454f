/*
 * leases.h - takes, extends and ends the leases of a tier. Of all machines that share a server, only the one that holds
 * a program's lease compiles the program.
 *
 * No lock is held during a request.
 */
#ifndef INGOT_REMOTE_TIER_LEASES_H
#define INGOT_REMOTE_TIER_LEASES_H

#include "remote/tier/tier.h"

/* Operations of ingot_storage_ops_t; self is a tier whose protocol has leases. */
ingot_lease_answer_t tier_take_lease(void *self, size_t id_size, const uint8_t *id, void **lease);
void tier_end_lease(void *self, void *lease, int may_others_take);

/* Frees all leases. The tier's thread must have ended. */
void leases_fini(struct tier *tier);

/* Record that a key's object was queued for its upload, and that the upload failed, if there is a lease for the key. */
void leases_note_queued(struct tier *tier, const char *key);
void leases_note_upload_failed(struct tier *tier, const char *key);

/* True if there are leases that wait to be ended, or, with is_any, any leases. The caller holds the lock. */
bool leases_are_left(const struct tier *tier, bool is_any);
/* Returns when a lease must be extended or ended: 0: now. The caller holds the lock. */
uint64_t leases_due_ns(const struct tier *tier);
/* Extends or ends one lease for which this is due. Returns false if there was none. Called by the tier's thread. */
bool leases_work(struct tier *tier);

#endif
