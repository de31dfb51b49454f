/*
 * load.h - loads a blob from the server, or from the pending uploads.
 */
#ifndef INGOT_REMOTE_TIER_LOAD_H
#define INGOT_REMOTE_TIER_LOAD_H

#include <ingot/storage.h>

#include "remote/tier/tier.h"

/* An id, and what a load of it calls. */
typedef struct ingot_storage_id {
    size_t size;
    const uint8_t *bytes;
} ingot_storage_id_t;
typedef ingot_status_t (*ingot_storage_on_loaded_t)(size_t index, ingot_status_t status, ingot_buffer_t *blob,
                                                    void *user);

/* The operation `load` of ingot_storage_ops_t; self is a tier. */
ingot_status_t tier_load(void *self, size_t id_size, const uint8_t *id, ingot_buffer_t *blob);

/* Returns the status of a load, or of a question for a blob, for which no request was admitted. Counts it. */
ingot_status_t tier_skip(struct tier *tier, enum tier_verdict verdict);
/* Returns the status of one whose request has ended and brought no blob. Counts it, and passes it to tier_settle. */
ingot_status_t tier_conclude(struct tier *tier, enum outcome outcome, const struct request *request, uint64_t began_ns,
                             uint64_t ended_ns);

/* Passes the result of an admitted request to the breaker. Its time counts as lost if it took longer than fair_ns. If
 * this opens the breaker, the tier's thread probes the server. */
void tier_settle(struct tier *tier, enum breaker_finding finding, uint64_t fair_ns, uint64_t began_ns,
                 uint64_t ended_ns, const char *reason);
/* Does the same for a request with this outcome, which brought no blob. */
void tier_settle_outcome(struct tier *tier, enum outcome outcome, uint64_t began_ns, uint64_t ended_ns,
                         const char *reason);

#endif
