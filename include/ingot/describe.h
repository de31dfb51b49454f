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

/**
 * Describes a blob's content as a JSON object, as a NUL-terminated text; size protocol. Its members are "source_name",
 * "files" (the included files, each with its name and the digest of its content), "kernels", "binaries" (each with the
 * digest of the device's identity and its size in bytes), "build_time_ns" (0: unknown) and "build_log". Those of an
 * artifact's envelope are "artifact" (its kind), "label", "make_time_ms", "made_at_unix_ms" and "parts" (each with its
 * name and its size in bytes). Those of probes are "probes" (each question to the file system with its answer: "file",
 * "no_file", "directory", "no_directory" or "current_directory", and the path) and "result_bytes". Does not need a
 * device.
 * @retval INGOT_BLOB_CORRUPT, INGOT_BLOB_TRUNCATED, INGOT_BLOB_VERSION  Loading the blob would fail in the same way.
 * @retval INGOT_BUFFER_TOO_SMALL, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_cache_blob_describe(size_t size, const uint8_t *cache_blob, size_t *text_size,
                                                   char *text);

#ifdef __cplusplus
}
#endif

#endif
