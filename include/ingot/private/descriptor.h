/* SPDX-License-Identifier: MIT */
/* Private: not installed. Only Ingot's own libraries, layers, tool and tests use it. */
/**
 * @file private/descriptor.h
 * Reads back what a program descriptor was created from, turns descriptors into requests, from which another process
 * makes them again without their files, and reads ids.
 */
#ifndef INGOT_PRIVATE_DESCRIPTOR_H
#define INGOT_PRIVATE_DESCRIPTOR_H

#include <stdbool.h>

#include <ingot/backend.h>
#include <ingot/storage.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Returns what a descriptor was created from.
 *
 * @param[in]     desc
 * @param[in,out] info  The caller sets struct_size. The pointers are valid as long as the descriptor.
 *                      Specialization constants and name expressions are sorted, as in the id. The compile options do
 *                      not include the environment's.
 * @retval INGOT_INVALID_ARGUMENTS
 */
INGOT_API ingot_status_t ingot_program_desc_get_info(const_ingot_program_desc_t desc, ingot_program_info_t *info);

/* ---- requests ---- */

#define INGOT_REQUEST_DIGEST_SIZE 32 /* BLAKE2b-256 */

/**
 * Serializes what a program is compiled from: the texts that the compiler gets, with all that they include, the
 * options, constants and name expressions (doc/request-format.md). A builder needs nothing else.
 *
 * @param[out] request  The caller releases it.
 * @retval INGOT_NOT_CACHEABLE  The program cannot be compiled elsewhere, or only natively; the error detail says why.
 * It may name files.
 * @retval INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_program_desc_get_request(const_ingot_program_desc_t desc, ingot_buffer_t *request);

/**
 * Writes the digest of a descriptor's request, which is that of ingot_request_get_digest and, in the descriptor's id,
 * "request.blake2b". Reads no file.
 *
 * @param[out] digest  INGOT_REQUEST_DIGEST_SIZE bytes.
 * @return As ingot_program_desc_get_cache_blob_id.
 */
INGOT_API ingot_status_t ingot_program_desc_get_request_digest(const_ingot_program_desc_t desc, uint8_t *digest);

/**
 * Creates a descriptor from a request that ingot_program_desc_get_request made, perhaps on another machine. Its id is
 * that of the original descriptor, with the devices of @p context. Neither creating nor building it reads a file that
 * the request names, and it is never built natively: a request may come from anyone.
 *
 * @param[in] device_count    0: all devices of the context; @p device_indices is then ignored.
 * @param[in] group           NULL: none.
 * @retval INGOT_NOT_CACHEABLE      A text, an option or a name might make a compiler read or write files.
 * @retval INGOT_INVALID_ARGUMENTS  The request is for another backend.
 * @retval INGOT_BLOB_CORRUPT, INGOT_BLOB_TRUNCATED, INGOT_BLOB_VERSION
 * @return Otherwise as ingot_program_desc_create.
 */
INGOT_API ingot_status_t ingot_program_desc_create_from_request(ingot_program_desc_t *desc, ingot_context_t context,
                                                                size_t size, const uint8_t *request,
                                                                size_t device_count, const uint32_t *device_indices,
                                                                const char *group);

/** Receives a field of an id: its path, such as "device[0].driver_version", and its value, which is text or raw bytes.
 *  Both are valid only during the call. */
typedef void (*ingot_cache_blob_id_visit_t)(void *user, const char *path, size_t size, const uint8_t *value,
                                            bool is_text);

/**
 * Visits a request's fields: "backend", then those of an id's request, but "source[0].text" instead of
 * "source[0].blake2b".
 * @retval INGOT_BLOB_CORRUPT, INGOT_BLOB_TRUNCATED, INGOT_BLOB_VERSION, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_request_visit(size_t size, const uint8_t *request, ingot_cache_blob_id_visit_t visit,
                                             void *user);
/** Computes a request's digest. @param[out] digest  INGOT_REQUEST_DIGEST_SIZE bytes. Statuses as
 *  ingot_request_visit. */
INGOT_API ingot_status_t ingot_request_get_digest(size_t size, const uint8_t *request, uint8_t *digest);

/** Receives a request, which is valid during the call. ingot_program_desc_visit_request returns its failure. */
typedef ingot_status_t (*ingot_build_request_visitor_t)(void *user, const ingot_build_request_t *request);

/**
 * Passes to @p visit the request that ops->build would get for @p desc, and compiles nothing. A backend that copies it
 * can compile the program later, even if the files that its sources include change in the meantime.
 *
 * @retval INGOT_NOT_CACHEABLE  The compiler would read files by itself, or an included file has changed since the
 *                              descriptor was created.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_OUT_OF_MEMORY
 * @return Otherwise what @p visit returns.
 * @par Threads  Any number at once; no lock is held during @p visit.
 */
INGOT_API ingot_status_t ingot_program_desc_visit_request(const_ingot_program_desc_t desc,
                                                          ingot_build_request_visitor_t visit, void *user);

/**
 * Visits the fields of the id of a program or an artifact, in order. None is visited if the id is malformed.
 * @return As ingot_cache_blob_id_describe.
 */
INGOT_API ingot_status_t ingot_cache_blob_id_visit(size_t size, const uint8_t *id, ingot_cache_blob_id_visit_t visit,
                                                   void *user);

/**
 * Writes the id that the same request has on the first device of @p context; size protocol.
 * @retval INGOT_BLOB_MISMATCH  The id is for another backend.
 * @retval INGOT_BUFFER_TOO_SMALL, INGOT_OUT_OF_MEMORY
 * @return Otherwise as ingot_cache_blob_id_describe, and what identifying the device returns.
 */
INGOT_API ingot_status_t ingot_cache_blob_id_move(ingot_context_t context, size_t size, const uint8_t *id,
                                                  size_t *moved_size, uint8_t *moved);

/** Receives a field in which two ids differ, as JSON texts: its path, and its values, each of which is a string, or
 * null if the id does not have the field. All are valid only during the call. */
typedef void (*ingot_cache_blob_id_difference_t)(void *user, const char *path, const char *expected, const char *found);

/**
 * Visits the fields in which two ids differ: those of the expected id, and then those that it lacks. Explains a miss if
 * @p expected is the requested id and @p found is a stored one. Nothing is visited for equal ids.
 * @return As ingot_cache_blob_id_visit.
 */
INGOT_API ingot_status_t ingot_cache_blob_id_compare(size_t expected_size, const uint8_t *expected, size_t found_size,
                                                     const uint8_t *found, ingot_cache_blob_id_difference_t visit,
                                                     void *user);

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
