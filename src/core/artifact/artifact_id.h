/*
 * artifact_id.h - writes and reads the ids of artifacts: a kind, and named fields in the order of their names.
 *
 * doc/artifact-format.md specifies every byte. An id may come from an untrusted place, so nothing in it is trusted.
 */
#ifndef INGOT_CORE_ARTIFACT_ARTIFACT_ID_H
#define INGOT_CORE_ARTIFACT_ARTIFACT_ID_H

#include <ingot/private/artifact.h>

#include "core/base/bytes.h"

/* Checks a key and appends its id. Sets writer->failed if out of memory.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_OUT_OF_MEMORY */
ingot_status_t artifact_id_write(struct bytes_writer *writer, const ingot_artifact_key_t *key);

#define ARTIFACT_MAX_KIND_SIZE 64u

/* True if a text of this size may be the kind of a key. */
bool artifact_id_is_kind(size_t size, const char *kind);

#define ARTIFACT_KIND_PATH "artifact"

/* Receives a part of an id: its path, which is ARTIFACT_KIND_PATH for the kind and "key.NAME" for a field, and its
 * value. The path of a value that is represented by its digest ends in ".blake2b". */
typedef void (*artifact_id_visitor)(void *user, const char *path, size_t size, const uint8_t *value, bool is_text);

/* Checks an id, and calls `visit` for each part. */
ingot_status_t artifact_id_visit(size_t size, const uint8_t *id, artifact_id_visitor visit, void *user);

#endif
