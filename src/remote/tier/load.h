/*
 * load.h - loads a blob from the server, or from the uploads that wait.
 */
#ifndef INGOT_REMOTE_TIER_LOAD_H
#define INGOT_REMOTE_TIER_LOAD_H

#include <ingot/storage.h>

/* The operation of ingot_storage_ops_t; self is a tier. */
ingot_status_t tier_load(void *self, size_t id_size, const uint8_t *id, ingot_buffer_t *blob);

#endif
