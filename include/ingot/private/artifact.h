/* SPDX-License-Identifier: MIT */
/* Private: not installed. Only Ingot's own libraries, layers, tool and tests use it. */
/**
 * @file private/artifact.h
 * The ids and envelopes of artifacts, for storages and the tool.
 */
#ifndef INGOT_PRIVATE_ARTIFACT_H
#define INGOT_PRIVATE_ARTIFACT_H

#include <ingot/artifact.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Returns the id under which an artifact is stored. Size protocol (ingot/ingot.h).
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_BUFFER_TOO_SMALL, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_artifact_key_get_id(const ingot_artifact_key_t *key, size_t *id_size, uint8_t *id);

/**
 * Puts an artifact into an envelope: the blob that a storage keeps under the artifact's id.
 *
 * @param      id    From ingot_artifact_key_get_id.
 * @param[out] blob  The caller calls its release function.
 * @retval INGOT_INVALID_ARGUMENTS  Also if the parts' sizes do not add up to @p size, or two parts have one name.
 * @retval INGOT_BLOB_TRUNCATED, INGOT_BLOB_CORRUPT, INGOT_BLOB_VERSION  @p id is not the id of an artifact.
 * @retval INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_artifact_pack(size_t id_size, const uint8_t *id, const ingot_artifact_info_t *info,
                                             size_t size, const void *bytes, ingot_buffer_t *blob);

/**
 * Checks an envelope and takes the artifact out, without a copy.
 *
 * @param         id     The id under which the blob was stored.
 * @param[in,out] blob   On success, it belongs to @p value and is empty. Otherwise unchanged.
 * @param[out]    value  As from ingot_artifact_get.
 * @retval INGOT_BLOB_TRUNCATED, INGOT_BLOB_CORRUPT, INGOT_BLOB_VERSION
 * @retval INGOT_BLOB_MISMATCH  The envelope belongs to another id.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_artifact_unpack(size_t id_size, const uint8_t *id, ingot_buffer_t *blob,
                                               ingot_buffer_t *value);

#ifdef __cplusplus
}
#endif

#endif
