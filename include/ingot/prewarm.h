/* SPDX-License-Identifier: MIT */
/* INGOT_EXPERIMENTAL: may change in any version. */
/**
 * @file prewarm.h
 * Reads the blobs of a previous run ahead, before the application requests their programs. Library ingot::persist.
 *
 * One run records its requests to a storage in a manifest, a file that the application names (doc/manifest-format.md).
 * The next run prewarms: a thread reads the manifest's blobs in order, in groups if the storage can load several at
 * once (load_many of ingot_storage_ops_t), and keeps them until they are requested. From a server, a group takes about
 * as long as a single load. Creating a program from its blob remains the work of the thread that requests the program.
 *
 * Prewarming needs no context and no device, and never compiles. A manifest may have ids that this run does not
 * request, for example those of a previous driver; their blobs are read in vain. Each run puts its own ids first.
 */
#ifndef INGOT_PREWARM_H
#define INGOT_PREWARM_H

#include <ingot/persist.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- recording ------------------------------------------------------------------------------------------- */

/** Recording configuration. */
typedef struct ingot_manifest_record_info {
    size_t struct_size;
    const char *path;     /**< The manifest. It may be missing; its directory must exist. Copied. Required. */
    uint32_t max_entries; /**< Programs in the manifest; 0: 4096. At most 65536. */
    /** Drops a program after more than this many runs in a row without a request for it; 0: 8. */
    uint32_t keep_runs;
    uint64_t max_bytes; /**< Size of the file; 0: 4 MiB. At most 64 MiB. */
    /** Receives events about what is saved, and what is left out and why. NULL: none. */
    ingot_event_callback_t on_event;
    void *on_event_user;
} ingot_manifest_record_info_t;
#define INGOT_MANIFEST_RECORD_INFO_INIT                                                                                \
    {                                                                                                                  \
        sizeof(ingot_manifest_record_info_t), NULL, 0, 0, 0, NULL, NULL                                                \
    }

/**
 * Starts recording the programs that ingot_persist_program_create loads or compiles with this storage, each once. A
 * program that is found in memory was already recorded when it was loaded or compiled, unless a function other than
 * ingot_persist_program_create, or another storage, brought it into memory.
 *
 * ingot_persist_flush and the storage's last release merge the recorded programs into the manifest, which keeps the ids
 * of other processes and previous runs. If a process is killed or exits before that, the previous run's manifest
 * remains.
 *
 * @param[in] info  NULL: saves and ends recording. A new recording also saves and ends the current one.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_OUT_OF_MEMORY
 * @return Otherwise the status with which saving the ended recording failed. Even then, the new recording has begun.
 */
INGOT_API ingot_status_t ingot_manifest_record(ingot_storage_t storage, const ingot_manifest_record_info_t *info);

/** Visits one id of a manifest. @p age is the number of runs in a row that did not request it. Pointers are valid only
 *  during the callback. Returns INGOT_SUCCESS to continue. Any other status stops the visit and is returned by
 *  ingot_manifest_read. */
typedef ingot_status_t (*ingot_manifest_visit_t)(size_t id_size, const uint8_t *id, uint32_t age, void *user);

/**
 * Calls @p visit for each id of a manifest, in order.
 *
 * @retval INGOT_NOT_FOUND  There is no such file.
 * @retval INGOT_BLOB_TRUNCATED, INGOT_BLOB_CORRUPT, INGOT_BLOB_VERSION, INGOT_UNTRUSTED  Rejected; nothing was visited.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_IO_ERROR, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_manifest_read(const char *path, ingot_manifest_visit_t visit, void *user);

/* ---- prewarming ------------------------------------------------------------------------------------------ */

/** A prewarm: blobs that are read ahead of their requests. */
typedef struct ingot_prewarm *ingot_prewarm_t;

/** What a prewarm has read so far. The blobs that it has not considered, because it is still running, was released, or
 *  reached its limit, are total minus loaded, missing, failed and overtaken. */
typedef struct ingot_prewarm_progress {
    size_t struct_size;
    ingot_status_t manifest_status; /**< Why the manifest was unusable; INGOT_SUCCESS if it was read. */
    uint64_t total;                 /**< Ids in the manifest. */
    uint64_t loaded;                /**< Blobs that were read. */
    uint64_t missing;               /**< Not in the storage. */
    uint64_t failed;                /**< Rejected by the storage or its policy, or not read for another reason. */
    uint64_t overtaken;             /**< Loaded, stored or removed by another thread before they were read. */
    uint64_t taken;                 /**< Blobs that were read and have been requested since. */
    uint64_t bytes;                 /**< Size of the blobs that were read. */
} ingot_prewarm_progress_t;
#define INGOT_PREWARM_PROGRESS_INIT                                                                                    \
    {                                                                                                                  \
        sizeof(ingot_prewarm_progress_t), INGOT_SUCCESS, 0, 0, 0, 0, 0, 0, 0                                           \
    }

/** Prewarm configuration. */
typedef struct ingot_prewarm_info {
    size_t struct_size;
    const char *manifest; /**< The manifest's path. ingot_prewarm_start reads the file before it returns. Required. */
    uint64_t max_bytes;   /**< Size of all blobs together; 0: 256 MiB. Reading ends before a blob that exceeds it. */
} ingot_prewarm_info_t;
#define INGOT_PREWARM_INFO_INIT                                                                                        \
    {                                                                                                                  \
        sizeof(ingot_prewarm_info_t), NULL, 0                                                                          \
    }

/**
 * Begins to read a manifest's blobs from @p storage, in the manifest's order, and returns when its thread is running.
 *
 * The prewarm holds the blobs in memory until they are requested from this storage object (by
 * ingot_persist_program_create, ingot_storage_load or ingot_artifact_get), stored to it, removed from it, or the
 * prewarm is released. Each blob is given to one load. A load of a blob that is being read waits for it, but at most a
 * second. Another load reads its blob itself, and the prewarm leaves that blob out. Several prewarms may run at once.
 *
 * The blobs are checked when they are read, and count as loads of the storage then. The prewarm holds a reference to
 * the storage. When the process exits, no further blob is read, and exit() waits for the one that is being read.
 *
 * Events (INGOT_EVENT_PREWARM at the end) go to the storage's callback, in the prewarm's thread.
 *
 * @retval INGOT_SUCCESS  Also if the manifest is missing, damaged or not trusted. It then counts as empty; an event and
 *                        ingot_prewarm_progress_t::manifest_status say why.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_prewarm_start(ingot_prewarm_t *prewarm, ingot_storage_t storage,
                                             const ingot_prewarm_info_t *info);

/**
 * Waits until the prewarm has read its last blob. In a forked child, returns immediately. An application need not wait:
 * its requests wait for the blobs that they need.
 *
 * @param[in,out] progress  May be NULL; otherwise the caller sets struct_size. `taken` is the number at the moment of
 *                          this call.
 * @retval INGOT_BUSY  An event callback in the prewarm's thread made the call, which did not wait.
 * @retval INGOT_INVALID_ARGUMENTS  @p prewarm is NULL, or @p progress has no struct_size. The call did not wait.
 */
INGOT_API ingot_status_t ingot_prewarm_wait(ingot_prewarm_t prewarm, ingot_prewarm_progress_t *progress);

/** Ends the prewarm: reads no further blob, waits for the one that is being read, and drops the blobs that were not
 *  requested. Does nothing for NULL. Do not call it from a callback in the prewarm's thread. */
INGOT_API void ingot_prewarm_release(ingot_prewarm_t prewarm);

#ifdef __cplusplus
}
#endif

#endif
