/* SPDX-License-Identifier: MIT */
/* Private: not installed. Only Ingot's own libraries, layers, tool and tests use it. */
/**
 * @file private/request.h
 * Requests that stores keep: what programs are compiled from, so that `ingot build` can compile them elsewhere.
 *
 * A kept request is an artifact (ingot/artifact.h) of the kind "request" (doc/request-format.md). Storages record what
 * is requested from them (`record_path` and INGOT_PERSIST_KEEP_REQUESTS in ingot/persist.h). A request may come from
 * anyone. The id of a result is computed from what is compiled, so a forged request cannot replace another program.
 */
#ifndef INGOT_PRIVATE_REQUEST_H
#define INGOT_PRIVATE_REQUEST_H

#include <ingot/persist.h>
#include <ingot/private/descriptor.h>

#ifdef __cplusplus
extern "C" {
#endif

#define INGOT_REQUEST_KIND "request"           /**< The kind of the artifact. */
#define INGOT_REQUEST_TEXT_KIND "request-text" /**< The kind of a text that requests share. */

/** A kept request. The caller sets no field. */
typedef struct ingot_kept_request {
    uint8_t digest[INGOT_REQUEST_DIGEST_SIZE]; /**< As in the ids of its results. */
    char backend[64];
    const char *name;       /**< Of the first source, without directories. This and the next four are "" if they
                             *   are not known, and point into `value`. */
    const char *group;      /**< As in ingot_program_info_t. */
    const char *name_space; /**< That of the storage that recorded it. */
    const char *device;     /**< The device that first wanted it, and its driver, for people. */
    uint64_t build_time_ms; /**< 0: unknown. */
    uint64_t recorded_at_unix_ms;
    size_t packed_size;
    const uint8_t *packed; /**< The request without the texts of the next field, usually compressed. */
    size_t texts_size;
    const uint8_t *texts; /**< Which texts are entries of their own, and where they belong. */
    ingot_buffer_t value; /**< Owns what the pointers point to. */
} ingot_kept_request_t;

/** Returns not 0 if the id is that of a kept request. */
INGOT_API int ingot_request_is_id(size_t id_size, const uint8_t *id);

/**
 * Reads a kept request without its texts.
 *
 * @param[in,out] blob     As from ingot_storage_load. On success @p request owns it, and @p blob is empty.
 * @param[out]    request  The caller releases it.
 * @retval INGOT_BLOB_TRUNCATED, INGOT_BLOB_CORRUPT, INGOT_BLOB_VERSION, INGOT_BLOB_MISMATCH
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_request_open(ingot_kept_request_t *request, size_t id_size, const uint8_t *id,
                                            ingot_buffer_t *blob);
/** Releases what ingot_request_open returned. */
INGOT_API void ingot_request_close(ingot_kept_request_t *request);

/**
 * Puts a request together, and checks that it is the one that its id names.
 *
 * @param[in]  texts  Where the request's larger texts are: the storage and the namespace that keep it.
 * @param[out] bytes  For ingot_program_desc_create_from_request and ingot_request_visit. The caller releases them.
 * @retval INGOT_NOT_FOUND  A text is missing. If the program is requested again, it is recorded again.
 * @retval INGOT_BLOB_CORRUPT, INGOT_BLOB_TRUNCATED, INGOT_BLOB_VERSION, INGOT_BLOB_MISMATCH
 * @return Otherwise as ingot_storage_load.
 */
INGOT_API ingot_status_t ingot_request_unpack(const ingot_kept_request_t *request, ingot_storage_t texts,
                                              ingot_buffer_t *bytes);

/**
 * Records the request of a program in the stores in which the storage records. Does nothing if it records nowhere. A
 * failure is reported by an event, once per status.
 *
 * @param[in] program  For the build time. NULL: unknown.
 */
INGOT_API void ingot_persist_record_request(ingot_storage_t storage, const_ingot_program_desc_t desc,
                                            const_ingot_program_t program);

#ifdef __cplusplus
}
#endif

#endif
