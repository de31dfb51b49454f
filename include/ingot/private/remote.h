/* SPDX-License-Identifier: MIT */
/* Private: not installed. Only Ingot's own libraries, layers, tool and tests use it. */
/**
 * @file private/remote.h
 * What the tool asks a server: whether it works, and whether it has a blob; and images of stores, which other tools
 * move to registries and back.
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
    ingot_remote_step_t step;   /**< The one that failed, or INGOT_REMOTE_STEP_DONE. */
    uint64_t connect_ns;        /**< Until the first answer. This and the next two are 0 for steps not taken. */
    uint64_t write_ns, read_ns; /**< Of 64 KiB. */
    char reason[512];           /**< Why the step failed; "" if none did. */
} ingot_remote_report_t;

/**
 * Checks whether a server works, and how fast it is, by a few requests in the calling thread. Each request may take as
 * long as connect_timeout_ms and stall_timeout_ms allow. Removes the object that it stores.
 *
 * @param[out] report  Set for every status except a missing argument.
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

/** Receives an object: its id, and what the server keeps under it, with its seal, which is not checked. Both are valid
 *  during the call. If the object could not be loaded, or is damaged, @p status and the error detail say why. */
typedef void (*ingot_remote_visit_t)(void *user, ingot_status_t status, size_t id_size, const uint8_t *id,
                                     size_t kept_size, const uint8_t *kept);

/**
 * Loads all objects that a server has in the tier's namespace, except those that a store can load.
 *
 * @param known        A directory store; NULL: none.
 * @param known_count  Receives how many objects were not loaded from the server because the store can load them.
 * @retval INGOT_SUCCESS        Also if some could not be loaded.
 * @retval INGOT_UNIMPLEMENTED  The server's protocol cannot list objects, or @p storage is not a remote tier.
 * @retval INGOT_IO_ERROR       The server, or the store, could not be listed.
 * @retval INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_remote_for_each(ingot_storage_t storage, ingot_storage_t known,
                                               ingot_remote_visit_t visit, void *user, uint64_t *known_count);

/**
 * Takes the oldest wish that the server has in the tier's namespace, and waits for one.
 *
 * @param[in]  wait_ms  In milliseconds, rounded up to seconds; 0: no limit.
 * @param[out] wish     An id, which nobody has checked. The caller releases it.
 * @retval INGOT_NOT_FOUND      There was none.
 * @retval INGOT_UNIMPLEMENTED  The server's protocol keeps no wishes, or @p storage is not a remote tier.
 * @retval INGOT_IO_ERROR       The request failed, or the tier is not contacting the server at present.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_remote_take_wish(ingot_storage_t storage, uint64_t wait_ms, ingot_buffer_t *wish);

/** Leaves a wish on a server. Statuses as of `leave_wish` of ingot_storage_ops_t and of ingot_remote_take_wish. */
INGOT_API ingot_status_t ingot_remote_leave_wish(ingot_storage_t storage, size_t id_size, const uint8_t *id);

#define INGOT_IMAGE_TAG "store" /**< The name of the image in an OCI image layout. */

/** What writing an image did. */
typedef struct ingot_image_stats {
    uint64_t entry_count;  /**< Entries of the store in the image. */
    uint64_t new_count;    /**< Of these, those that the image did not have before. */
    uint64_t new_bytes;    /**< Of these. */
    uint64_t failed_count; /**< Entries that were damaged or refused; `reason` is that of the last one. */
    char reason[512];
} ingot_image_stats_t;

/**
 * Writes the entries of a store as an image into an OCI image layout (doc/oci-format.md), with their namespaces and
 * seals. Layers of the image that the layout has stay, so that only new entries have to be moved. Blobs that no image
 * of the layout needs are removed.
 *
 * @param storage    A directory store or a bundle.
 * @param directory  Created if it is missing.
 * @retval INGOT_IO_ERROR, INGOT_OUT_OF_MEMORY, INGOT_NO_SPACE
 */
INGOT_API ingot_status_t ingot_image_write(ingot_storage_t storage, const char *directory, ingot_image_stats_t *stats);

/** Receives a layer, as a bundle with the entries of a namespace ("": none). The bundle is valid during the call. If
 *  the layer cannot be used, the bundle is NULL, and @p status and the error detail say why. Returns INGOT_SUCCESS to
 *  continue; any other status ends the visit, which returns it. */
typedef ingot_status_t (*ingot_image_visit_t)(ingot_storage_t bundle, ingot_status_t status, const char *name_space,
                                              void *user);

/**
 * Visits the layers of an image, the newest first: of entries with the same id, the first one counts.
 *
 * @retval INGOT_NOT_FOUND  The layout has no image.
 * @retval INGOT_IO_ERROR, INGOT_OUT_OF_MEMORY, INGOT_BLOB_CORRUPT
 */
INGOT_API ingot_status_t ingot_image_for_each(const char *directory, ingot_image_visit_t visit, void *user);

/** Counts of a remote tier in this process. */
typedef struct ingot_remote_stats {
    uint64_t hits;     /**< Loads that returned a blob. */
    uint64_t misses;   /**< Loads of ids, and questions whether it has them, to which the server has no object. */
    uint64_t skipped;  /**< Loads that did not ask the server, because it had failed. */
    uint64_t failures; /**< Loads that failed, also because of a bad object. Events have the reasons. */
    uint64_t uploads, removals; /**< Those that the tier's thread has done. */
    uint64_t failed_uploads;    /**< Uploads and removals that failed. */
    uint64_t dropped_uploads;   /**< Uploads that never began, for lack of room or because the process ended. */
    uint64_t waiting;           /**< Uploads and removals that are pending now. */
    uint64_t sent_bytes;        /**< Sizes of uploaded objects. */
    uint64_t pauses;            /**< How often loads of this process stopped asking the server. */
    uint64_t lost_ns;           /**< The process's time that this server's failed and slow loads cost. */
    int is_asking;              /**< 0: the server failed, and loads do not ask it at present. */
    uint64_t leases;            /**< Leases that this process took, to compile a program for all machines. */
    uint64_t busy_leases;       /**< Requests that found another machine's lease; a wait makes several. */
    uint64_t lost_leases;       /**< Leases that ran out, or vanished from the server, before they were ended. */
    int is_uploading;           /**< 0: the server refused uploads, or failed, and uploads wait at present. */
} ingot_remote_stats_t;
/**
 * Returns the counts of a remote tier since it was opened.
 *
 * @par Threads  Any number at once.
 * @retval INGOT_INVALID_ARGUMENTS
 * @retval INGOT_UNIMPLEMENTED  @p storage is not a remote tier.
 */
INGOT_API ingot_status_t ingot_remote_get_stats(ingot_storage_t storage, ingot_remote_stats_t *stats);

#ifdef __cplusplus
}
#endif

#endif
