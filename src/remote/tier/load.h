/*
 * load.h - loads a blob from the server, or from the pending uploads.
 */
#ifndef INGOT_REMOTE_TIER_LOAD_H
#define INGOT_REMOTE_TIER_LOAD_H

#include <ingot/storage.h>

#include "remote/tier/tier.h"

/* The operation `load` of ingot_storage_ops_t; self is a tier. */
ingot_status_t tier_load(void *self, size_t id_size, const uint8_t *id, ingot_buffer_t *blob);

/* Loads the blobs of several ids. This is load_many of ingot_storage_ops_t; self is a tier. */
void tier_load_many(void *self, size_t count, const ingot_storage_id_t *ids, ingot_storage_on_loaded_t on_loaded,
                    void *user);

/*
 * The parts of a load, which both tier_load and tier_load_many use. Each part updates the tier's counts, and reports
 * the status of the load.
 */
/* Loads a blob from the pending uploads, or sets a failure if the server must not be asked for this id. Returns false
 * if the server must be asked. */
bool load_here(struct tier *tier, size_t id_size, const uint8_t *id, ingot_buffer_t *blob, ingot_status_t *status);
ingot_status_t load_from_server(struct tier *tier, size_t id_size, const uint8_t *id, ingot_buffer_t *blob);
/* Returns the status of a load for which the guard admitted no request. */
ingot_status_t load_skip(struct tier *tier, enum guard_verdict verdict);
/* Turns the outcome of a request that has ended into the result of the load. */
ingot_status_t load_settle(struct tier *tier, struct fetch *fetch, size_t id_size, const uint8_t *id,
                           ingot_buffer_t *blob);

/* Asks whether the server has a blob, or whether one waits to be uploaded. Returns the statuses of ingot_remote_has. */
ingot_status_t tier_has(struct tier *tier, size_t id_size, const uint8_t *id);

/* Passes the result of an admitted request to the guard (guard_settle). If this opens the breaker, an event reports
 * that, and the tier's thread probes the server. */
void tier_settle(struct tier *tier, enum breaker_finding finding, uint64_t fair_ns, uint64_t began_ns,
                 uint64_t ended_ns, const char *reason);
/* Does the same for a request with this outcome, which brought no blob. */
void tier_settle_outcome(struct tier *tier, enum outcome outcome, uint64_t began_ns, uint64_t ended_ns,
                         const char *reason);

#endif
