/*
 * load.h - loads a blob from the server, or from the pending uploads, asks whether the server has it, and lists keys.
 */
#ifndef INGOT_REMOTE_TIER_LOAD_H
#define INGOT_REMOTE_TIER_LOAD_H

#include <ingot/storage.h>

#include "remote/tier/tier.h"

/* The operation `load` of ingot_storage_ops_t; self is a tier. */
ingot_status_t tier_load(void *self, size_t id_size, const uint8_t *id, ingot_buffer_t *blob);
/* See ingot_remote_has. */
ingot_status_t tier_has(struct tier *tier, size_t id_size, const uint8_t *id);
/* See ingot_remote_list and ingot_remote_load_key. */
ingot_status_t tier_list(struct tier *tier, void (*visit)(void *user, const char *key), void *user);
ingot_status_t tier_load_key(struct tier *tier, const char *key, ingot_buffer_t *id, ingot_buffer_t *blob);

#endif
