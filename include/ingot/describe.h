/* SPDX-License-Identifier: MIT */
/* Stable, advanced. */
/**
 * @file describe.h
 * Describes ids and blobs as text, for logs and tools, and explains how two ids differ. ingot/ingot.h includes it.
 *
 * "Size protocol" is explained in ingot/ingot.h.
 */
#ifndef INGOT_DESCRIBE_H
#define INGOT_DESCRIBE_H

#include <stddef.h>
#include <stdint.h>

#include <ingot/export.h>
#include <ingot/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Describes the id of an entry, such as a program's or an artifact's (ingot/artifact.h), as a JSON object with one
 * member per field, as a NUL-terminated text; size protocol. "source[0].blake2b" of a program is the digest of the text
 * that the compiler gets: the first source with all that it includes.
 * @retval INGOT_BLOB_CORRUPT, INGOT_BLOB_TRUNCATED, INGOT_BLOB_VERSION  @p id is not an id that this library can read.
 * @retval INGOT_BUFFER_TOO_SMALL, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_cache_blob_id_describe(size_t size, const uint8_t *id, size_t *text_size, char *text);

/**
 * Lists the fields in which two ids differ as a JSON array of {"field", "expected", "found"}; [] for equal ids.
 * Explains a miss if @p expected is the requested id and @p found is a stored one. Size protocol and statuses as
 * ingot_cache_blob_id_describe.
 */
INGOT_API ingot_status_t ingot_cache_blob_id_explain(size_t expected_size, const uint8_t *expected, size_t found_size,
                                                     const uint8_t *found, size_t *text_size, char *text);

#ifdef __cplusplus
}
#endif

#endif
