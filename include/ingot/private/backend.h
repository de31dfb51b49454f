/* SPDX-License-Identifier: MIT */
/* Private: not installed. Only Ingot's own libraries, layers, tool and tests use it. */
/**
 * @file private/backend.h
 * What the bundled backends share beyond ingot/backend.h.
 */
#ifndef INGOT_PRIVATE_BACKEND_H
#define INGOT_PRIVATE_BACKEND_H

#include <ingot/backend.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Appends @p size bytes, which the caller then writes to @p *bytes. For a driver that fills a buffer. The pointer is
 * valid until the next call with this sink. @retval INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_sink_reserve(ingot_sink_t *sink, size_t size, void **bytes);

/**
 * Appends a compiler's messages to a build log, unchanged. If the log does not end with a newline, appends one first,
 * so that the texts stay separate.
 * @retval INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_sink_write_log(ingot_sink_t *sink, const char *text);
/**
 * Rejects a program: writes a message to the build log, and sets it as the error message, as ingot_set_error does.
 *
 * @param[in] code  The driver's code, or 0.
 * @retval INGOT_BUILD_FAILED
 * @retval INGOT_OUT_OF_MEMORY
 */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
INGOT_API ingot_status_t
ingot_refuse_program(ingot_sink_t *log, int64_t code, const char *format, ...);

/** Adds a field with the digest of @p value (BLAKE2b-256 in hexadecimal), for values that would make every id too
 *  long. Statuses as ingot_identity_add. */
INGOT_API ingot_status_t ingot_identity_add_digest(ingot_identity_t *identity, const char *name, size_t size,
                                                   const void *value);

/**
 * Adds the field @p name for a compiler's data files (device libraries, headers, settings). The field's value is one
 * digest of the file names, without directories, and of a 128-bit hash of each file's content. Missing files are
 * skipped. If all are missing, no field is added.
 *
 * @param[in] paths  NULL-terminated.
 * @retval INGOT_BACKEND_ERROR  A file exists but cannot be read or is not a regular file, or there are more than 256
 *                              files.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_identity_add_files(ingot_identity_t *identity, const char *name,
                                                  const char *const *paths);

/**
 * Checks a request for backends that accept SPIR-V: every module must have SPIR-V framing, and at least one module must
 * contain each constant with its size. Drivers may end the process on bad framing, and do not name a missing constant.
 *
 * @retval INGOT_BUILD_FAILED  A check failed; @p log and the detail say which.
 * @retval INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_spirv_check_request(const ingot_build_request_t *request, ingot_sink_t *log);
/** Returns nonzero if this module, which passed ingot_spirv_check_request, has the specialization constant @p id. */
INGOT_API int ingot_spirv_has_spec_constant(const ingot_source_view_t *module, uint32_t id);

#ifdef __cplusplus
}
#endif

#endif
