/*
 * load.h - loads a blob from the server, or from the uploads that wait.
 */
#ifndef INGOT_REMOTE_TIER_LOAD_H
#define INGOT_REMOTE_TIER_LOAD_H

#include <ingot/storage.h>

#include "remote/tier/tier.h"

/* The operation of ingot_storage_ops_t; self is a tier. */
ingot_status_t tier_load(void *self, size_t id_size, const uint8_t *id, ingot_buffer_t *blob);

/* Asks whether the server has a blob, or one waits to be uploaded. Statuses as ingot_remote_has. */
ingot_status_t tier_has(struct tier *tier, size_t id_size, const uint8_t *id);

/* Tells the guard the result of a request that it admitted. If the server is not asked from then on, an event says so,
 * and the tier's thread probes it. */
void tier_settle(struct tier *tier, enum breaker_finding finding, uint64_t byte_count, uint64_t began_ns,
                 const char *reason);

#endif
