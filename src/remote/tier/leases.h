/*
 * leases.h - takes, keeps and ends the leases of a tier. Of all machines that share a server, only the one that holds a
 * program's lease compiles the program. The tier's thread renews leases, and ends them after their uploads.
 *
 * No lock is held during a request.
 */
#ifndef INGOT_REMOTE_TIER_LEASES_H
#define INGOT_REMOTE_TIER_LEASES_H

#include "remote/tier/tier.h"

/* Operations of ingot_storage_ops_t; self is a tier whose protocol has leases. */
ingot_lease_answer_t tier_take_lease(void *self, size_t id_size, const uint8_t *id, int is_blob_useless, void **lease);
void tier_end_lease(void *self, void *lease, int may_others_take);

void leases_init(struct leases *leases);
/* The tier's thread must have ended. */
void leases_fini(struct leases *leases);

/* Adds a lease that the server has given, which leases_work frees. began_ns: when the request began. */
void leases_add(struct tier *tier, struct lease *lease, uint64_t began_ns);
/* Records that a key's object waits for its upload, if there is a lease for the key. Wakes the thread in any case,
 * because the queue may have dropped other uploads to make room. */
void leases_note_queued(struct tier *tier, const char *key, uint64_t upload_number);
/* Records that the upload of a key's object failed, if there is a lease for the key. */
void leases_note_upload_failed(struct tier *tier, const char *key);

/* Returns when a lease must be renewed or ended: 0: now. The caller holds the lock. */
uint64_t leases_due_ns(const struct tier *tier);
/* Renews or ends all leases for which this is due. Returns false if there was none. Called by the tier's thread. */
bool leases_work(struct tier *tier);
/* Ends as many leases as the time of one request allows, when the tier's thread has ended. */
void leases_end_all(struct tier *tier);

#endif
