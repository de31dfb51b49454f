/*
 * turn.h - begins and ends turns for artifacts of a storage.
 */
#ifndef INGOT_CACHE_ARTIFACT_TURN_H
#define INGOT_CACHE_ARTIFACT_TURN_H

#include <ingot/artifact.h>

/* Does what ingot_artifact_begin does, for an id. The storage may be NULL. */
ingot_status_t turn_begin(ingot_storage_t storage, size_t id_size, const uint8_t *id, uint64_t max_wait_ms,
                          ingot_buffer_t *value, ingot_turn_t *turn);

/* Does what ingot_turn_finish does. If the bytes could be packed, sets *blob to the envelope, whatever the status. The
 * caller releases it. */
ingot_status_t turn_finish(ingot_turn_t turn, const ingot_artifact_info_t *info, size_t size, const void *bytes,
                           ingot_buffer_t *blob);

#endif
