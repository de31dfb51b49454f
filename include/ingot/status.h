/* SPDX-License-Identifier: MIT */
/* Stable. */
/**
 * @file status.h
 * The status that Ingot's functions return, and the error message and code of the calling thread's last failure.
 */
#ifndef INGOT_STATUS_H
#define INGOT_STATUS_H

#include <stdint.h>

#include <ingot/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The result of a call. Values are stable; new ones are appended. */
typedef enum ingot_status {
    INGOT_SUCCESS = 0,
    /** Host or device memory ran out. A request for a program returns it only after Ingot emptied the in-memory cache
     *  and retried. */
    INGOT_OUT_OF_MEMORY = 1,
    INGOT_INVALID_ARGUMENTS = 2, /**< An argument is wrong; the detail names it. */
    INGOT_BUFFER_TOO_SMALL = 3,  /**< The size was set to the required size; the buffer is untouched. */
    INGOT_UNIMPLEMENTED = 4,     /**< This backend or driver cannot do it (no binaries, no SPIR-V, ...). */
    INGOT_NOT_FOUND = 5,         /**< A look-up found nothing, or the kernel does not exist. */
    INGOT_NOT_CACHEABLE = 6,     /**< The program cannot have an id; the error detail says why. */
    INGOT_BUILD_FAILED = 7,      /**< The compiler rejected the program; the detail holds the build log. */
    INGOT_BACKEND_ERROR = 8,     /**< Any other driver failure; ingot_last_error_code has the driver's code. */
    INGOT_BLOB_TRUNCATED = 9,    /**< The blob is shorter than its header says. */
    INGOT_BLOB_CORRUPT = 10,     /**< The bytes are not a blob, or do not match the checksum. */
    INGOT_BLOB_VERSION = 11,     /**< The blob has a format version that this library does not read. */
    INGOT_BLOB_MISMATCH = 12,    /**< The blob is valid, but is another program's. */
    INGOT_BLOB_STALE = 13,       /**< The blob is valid, but for another device, driver or compiler. */
    INGOT_BLOB_REJECTED = 14,    /**< The blob passed all checks, but the driver rejected it. */
    INGOT_IO_ERROR = 15,         /**< Storages: a call to the operating system or a server failed; see the detail. */
    INGOT_READ_ONLY = 16,        /**< Storages: the storage was opened read-only, or turned out to be read-only. */
    INGOT_NO_SPACE = 17,         /**< Storages: the disk or a quota is full, or the blob exceeds the storage's limit. */
    INGOT_BUSY = 18,             /**< Storages: a lock was not acquired in time. */
    /** Storages: a directory or file is owned by or writable by another user, or is not a regular file or directory, or
     * a blob's seal is refused (ingot/trust.h). */
    INGOT_UNTRUSTED = 19,
    /** The request would wait forever, because what it waits for itself waits for the requesting thread. */
    INGOT_DEADLOCK = 20
} ingot_status_t;

/** Returns the enumerator's name, e.g. "INGOT_NOT_FOUND", or "unknown status" for any other value. Never NULL. */
INGOT_API const char *ingot_status_name(ingot_status_t status);

/**
 * Returns the error message of the last failure in the calling thread, with the driver's code or the build log if there
 * is one. Never NULL; "" if nothing has failed yet. The message is valid until the thread's next call into Ingot that
 * is not a release. Releases preserve the message and the code, whatever they call or store, so that callers can report
 * a failure after cleaning up.
 */
INGOT_API const char *ingot_last_error_detail(void);

/**
 * Returns the code that belongs to the error message: the result of the driver or its compiler, such as a cl_int,
 * ze_result_t, CUresult or nvrtcResult (the message names the call), or the errno of INGOT_IO_ERROR and of other
 * failures of the operating system. 0 if Ingot found the failure itself, or if nothing has failed yet. Valid as long as
 * the message.
 */
INGOT_API int64_t ingot_last_error_code(void);

#ifdef __cplusplus
}
#endif

#endif
