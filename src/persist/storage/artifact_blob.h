/*
 * artifact_blob.h - loads artifacts from a storage, and stores them.
 */
#ifndef INGOT_PERSIST_STORAGE_ARTIFACT_BLOB_H
#define INGOT_PERSIST_STORAGE_ARTIFACT_BLOB_H

#include <ingot/artifact.h>
#include <stdbool.h>

/* Loads an artifact and counts the load. Removes an envelope that cannot be used, and sets *was_refused then, which
 * otherwise stays unchanged.
 * @retval INGOT_NOT_FOUND, INGOT_OUT_OF_MEMORY */
ingot_status_t artifact_blob_load(ingot_storage_t storage, size_t id_size, const uint8_t *id, ingot_buffer_t *value,
                                  bool *was_refused);

/* Stores an artifact. Sets *blob to its envelope also if the storage does not take it; the caller releases it. */
ingot_status_t artifact_blob_store(ingot_storage_t storage, size_t id_size, const uint8_t *id,
                                   const ingot_artifact_info_t *info, size_t size, const void *bytes,
                                   ingot_buffer_t *blob);

#endif
