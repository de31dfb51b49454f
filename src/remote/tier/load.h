/*
 * load.h - loads a blob from the server, or from the pending uploads, and asks whether the server has it.
 */
#ifndef INGOT_REMOTE_TIER_LOAD_H
#define INGOT_REMOTE_TIER_LOAD_H

#include <ingot/storage.h>

#include "remote/tier/tier.h"

/* The operation `load` of ingot_storage_ops_t; self is a tier. */
ingot_status_t tier_load(void *self, size_t id_size, const uint8_t *id, ingot_buffer_t *blob);
/* See ingot_remote_has. */
ingot_status_t tier_has(struct tier *tier, size_t id_size, const uint8_t *id);

#endif
