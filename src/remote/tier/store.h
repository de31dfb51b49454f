/*
 * store.h - passes blobs and removals to the tier's thread.
 */
#ifndef INGOT_REMOTE_TIER_STORE_H
#define INGOT_REMOTE_TIER_STORE_H

#include <ingot/storage.h>

/* Operations of ingot_storage_ops_t; self is a tier. */
ingot_status_t tier_store(void *self, size_t id_size, const uint8_t *id, size_t blob_size, const uint8_t *blob);
ingot_status_t tier_remove(void *self, size_t id_size, const uint8_t *id);

#endif
