/* SPDX-License-Identifier: MIT */
/* Private: not installed. Only Ingot's own libraries, layers, tool and tests use it. */
/**
 * @file private/remote.h
 * What the tool asks a server: whether it works, and whether it has a blob.
 */
#ifndef INGOT_PRIVATE_REMOTE_H
#define INGOT_PRIVATE_REMOTE_H

#include <ingot/remote.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A step of a check. */
typedef enum ingot_remote_step {
    INGOT_REMOTE_STEP_OPEN = 0,    /**< Checking the info and the files with credentials. */
    INGOT_REMOTE_STEP_CONNECT = 1, /**< Connecting, authenticating, and an empty request. */
    INGOT_REMOTE_STEP_WRITE = 2,   /**< Storing 64 KiB. */
    INGOT_REMOTE_STEP_READ = 3,    /**< Loading and comparing them; for a read-only tier, only asking for them. */
    INGOT_REMOTE_STEP_REMOVE = 4,
    INGOT_REMOTE_STEP_DONE = 5
} ingot_remote_step_t;

/** The result of a check. */
typedef struct ingot_remote_report {
    size_t struct_size;
    ingot_remote_step_t step;   /**< The one that failed, or INGOT_REMOTE_STEP_DONE. */
    uint64_t connect_ns;        /**< Until the first answer. This and the next three are 0 for steps not taken. */
    uint64_t round_trip_ns;     /**< The shortest of five on the same connection. */
    uint64_t write_ns, read_ns; /**< Of 64 KiB. */
    char reason[512];           /**< Why the step failed; "" if none did. */
} ingot_remote_report_t;
#define INGOT_REMOTE_REPORT_INIT                                                                                       \
    {                                                                                                                  \
        sizeof(ingot_remote_report_t), INGOT_REMOTE_STEP_OPEN, 0, 0, 0, 0,                                             \
        {                                                                                                              \
            0                                                                                                          \
        }                                                                                                              \
    }

/**
 * Checks whether a server works, and how fast it is, by a few requests in the calling thread. Each request may take as
 * long as connect_timeout_ms and stall_timeout_ms allow. Removes the object that it stores.
 *
 * @param[in,out] report  The caller sets struct_size. Set for every status except a missing argument.
 * @return INGOT_SUCCESS, or the failure of the step that failed.
 */
INGOT_API ingot_status_t ingot_remote_check(const ingot_remote_info_t *info, ingot_remote_report_t *report);

/**
 * Asks whether a server has the blob of an id, without loading it. A blob whose upload is pending counts as present.
 *
 * @par Threads  Any number at once.
 * @retval INGOT_SUCCESS        It has a blob, which may still turn out to be unusable.
 * @retval INGOT_NOT_FOUND      It has no blob.
 * @retval INGOT_IO_ERROR       The request failed, or the tier is not contacting the server at present.
 * @retval INGOT_UNIMPLEMENTED  @p storage is not a remote tier.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_OUT_OF_MEMORY, INGOT_NO_SPACE
 */
INGOT_API ingot_status_t ingot_remote_has(ingot_storage_t storage, size_t id_size, const uint8_t *id);

#ifdef __cplusplus
}
#endif

#endif
