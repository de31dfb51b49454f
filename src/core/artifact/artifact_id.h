/*
 * artifact_id.h - writes and reads the ids of artifacts: a kind, and named fields in the order of their names.
 *
 * doc/artifact-format.md specifies every byte. An id may come from an untrusted place, so nothing in it is trusted.
 */
#ifndef INGOT_CORE_ARTIFACT_ARTIFACT_ID_H
#define INGOT_CORE_ARTIFACT_ARTIFACT_ID_H

#include <ingot/private/artifact.h>
#include <ingot/private/descriptor.h>

#include "core/base/bytes.h"

/* Checks a key and appends its id. Sets writer->failed if out of memory.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_OUT_OF_MEMORY */
ingot_status_t artifact_id_write(struct bytes_writer *writer, const ingot_artifact_key_t *key);

#define ARTIFACT_MAX_KIND_SIZE 64u

/* True if a text of this size may be the kind of a key. */
bool artifact_id_is_kind(size_t size, const char *kind);

/* Checks an id, and calls `visit`, unless it is NULL, for each part: with its path, which is "artifact" for the kind
 * and "key.NAME" for a field, and its value. The path of a value that is represented by its digest ends in ".blake2b".
 */
ingot_status_t artifact_id_visit(size_t size, const uint8_t *id, ingot_cache_blob_id_visit_t visit, void *user);
/* Checks an id, and copies its kind with a NUL. */
ingot_status_t artifact_id_read_kind(size_t size, const uint8_t *id, char kind[ARTIFACT_MAX_KIND_SIZE + 1]);

#endif
