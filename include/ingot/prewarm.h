/* SPDX-License-Identifier: MIT */
/* INGOT_EXPERIMENTAL: may change in any version. */
/**
 * @file prewarm.h
 * Loads the programs of a previous run in parallel, before the application requests them. Library ingot::persist.
 *
 * One run records its requests to a storage in a manifest, a file that the application names (doc/manifest-format.md).
 * The next run prewarms: threads load the manifest's programs in order and keep them until
 * ingot_persist_program_create requests them. If the requested program is being loaded, that call waits only for this
 * load.
 *
 * Prewarming never compiles. It skips an id for another driver, compiler, device or library before reading anything. It
 * also skips programs that the storage lacks and blobs that are rejected. An event reports each of these.
 */
#ifndef INGOT_PREWARM_H
#define INGOT_PREWARM_H

#include <ingot/persist.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- recording ------------------------------------------------------------------------------------------- */

/** Recording configuration. */
typedef struct ingot_persist_record_info {
    size_t struct_size;
    const char *path;     /**< The manifest. It may be missing; its directory must exist. Copied. Required. */
    uint32_t max_entries; /**< Programs in the manifest; 0: 4096. At most 65536. */
    /** Drops a program after more than this many runs in a row without a request for it; 0: 8. */
    uint32_t keep_runs;
    uint64_t max_bytes; /**< Size of the file; 0: 4 MiB. At most 64 MiB. */
    /** Receives events about what is saved, and what is left out and why. NULL: none. */
    ingot_event_callback_t on_event;
    void *on_event_user;
} ingot_persist_record_info_t;
#define INGOT_PERSIST_RECORD_INFO_INIT                                                                                 \
    {                                                                                                                  \
        sizeof(ingot_persist_record_info_t), NULL, 0, 0, 0, NULL, NULL                                                 \
    }

/**
 * Starts recording the programs that ingot_persist_program_create loads or compiles with this storage, each once. A
 * program that is found in memory was already recorded when it was loaded or compiled, unless a function other than
 * ingot_persist_program_create, or another storage, brought it into memory.
 *
 * The manifest is written by ingot_persist_record_save, ingot_persist_flush, or the storage's last release. If a
 * process is killed or exits before that, the previous run's manifest remains. A forked child records nothing.
 *
 * @param[in] info  NULL: saves and ends recording. A new recording also saves and ends the current one.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_OUT_OF_MEMORY
 * @return Otherwise the status with which saving the ended recording failed. Even then, the new recording has begun.
 */
INGOT_API ingot_status_t ingot_persist_record(ingot_storage_t storage, const ingot_persist_record_info_t *info);

/**
 * Merges the recorded programs into the manifest, which keeps the ids of other processes and previous runs.
 *
 * @retval INGOT_SUCCESS    Also if nothing, or nothing new, was recorded.
 * @retval INGOT_BUSY       Another process was writing the manifest the whole time (200 ms).
 * @retval INGOT_NOT_FOUND  The manifest's directory is missing.
 * @retval INGOT_UNTRUSTED  The path is a link or not a file, or the file is owned by another user or writable by
 *                          others.
 * @retval INGOT_READ_ONLY, INGOT_NO_SPACE, INGOT_IO_ERROR, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_persist_record_save(ingot_storage_t storage);

/** Visits one id of a manifest. @p age is the number of runs in a row that did not request it. Pointers are valid only
 *  during the callback. Returns 0 to stop, nonzero to continue. */
typedef int (*ingot_persist_manifest_visit_t)(size_t id_size, const uint8_t *id, uint32_t age, void *user);

/**
 * Calls @p visit for each id of a manifest, in order.
 *
 * @retval INGOT_NOT_FOUND  There is no such file.
 * @retval INGOT_BLOB_TRUNCATED, INGOT_BLOB_CORRUPT, INGOT_BLOB_VERSION, INGOT_UNTRUSTED  Rejected; nothing was visited.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_IO_ERROR, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_persist_read_manifest(const char *path, ingot_persist_manifest_visit_t visit,
                                                     void *user);

/* ---- prewarming ------------------------------------------------------------------------------------------ */

/** A prewarm: programs that are being loaded ahead of their requests. */
typedef struct ingot_prewarm *ingot_prewarm_t;

/** The state of a prewarm: running, or why it ended. */
typedef enum ingot_prewarm_state {
    INGOT_PREWARM_RUNNING = 0,
    INGOT_PREWARM_COMPLETE = 1,  /**< The whole manifest was processed. */
    INGOT_PREWARM_CANCELLED = 2, /**< By a call or a callback. */
    INGOT_PREWARM_OUT_OF_TIME = 3,
    INGOT_PREWARM_OUT_OF_BYTES = 4 /**< The next blob would have exceeded the limit. */
} ingot_prewarm_state_t;

/** Progress of a prewarm. */
typedef struct ingot_prewarm_progress {
    size_t struct_size;
    ingot_prewarm_state_t state;
    ingot_status_t manifest_status; /**< Why the manifest was unusable; INGOT_SUCCESS if it was read. */
    uint64_t total;                 /**< Programs in the manifest. */
    /** The processed programs: the sum of loaded, stale, missing, failed and overtaken. */
    uint64_t done;
    uint64_t loaded;
    uint64_t stale;     /**< For another device, driver, compiler or library. */
    uint64_t missing;   /**< Not in the storage. */
    uint64_t failed;    /**< Rejected, or not loaded for another reason. */
    uint64_t overtaken; /**< Requested before their turn; the requesting thread loaded them. */
    uint64_t taken;     /**< Loaded programs that have been requested since. */
    uint64_t bytes;     /**< Size of the loaded blobs. */
} ingot_prewarm_progress_t;
#define INGOT_PREWARM_PROGRESS_INIT                                                                                    \
    {                                                                                                                  \
        sizeof(ingot_prewarm_progress_t), INGOT_PREWARM_RUNNING, INGOT_SUCCESS, 0, 0, 0, 0, 0, 0, 0, 0, 0              \
    }

/**
 * Receives progress after each program, in the thread that loaded it, with no lock held. Several threads may call it at
 * once, so a later call may have older figures. It may cancel the prewarm but must not release it.
 * @return 0 to cancel, otherwise continue.
 */
typedef int (*ingot_prewarm_callback_t)(const ingot_prewarm_progress_t *progress, void *user);

/** Prewarm configuration. */
typedef struct ingot_prewarm_info {
    size_t struct_size;
    const char *manifest;  /**< The manifest's path. ingot_prewarm_start reads the file before it returns. Required. */
    uint32_t thread_count; /**< 0: 2. At most 64, and at most the number of programs. */
    uint64_t max_bytes;    /**< Size of all loaded blobs together; 0: no limit. */
    uint64_t max_time_ns;  /**< No load begins after this time from the start; 0: no limit. */
    ingot_prewarm_callback_t on_progress; /**< NULL: none. */
    void *on_progress_user;
} ingot_prewarm_info_t;
#define INGOT_PREWARM_INFO_INIT                                                                                        \
    {                                                                                                                  \
        sizeof(ingot_prewarm_info_t), NULL, 0, 0, 0, NULL, NULL                                                        \
    }

/**
 * Begins to load a manifest's programs from @p storage for @p context, and returns when the threads are running.
 *
 * The prewarm holds the loaded programs, outside the context's in-memory cache and its limits, until they are requested
 * or the prewarm is released. A request by ingot_persist_program_create with this context and this storage moves a
 * program into the in-memory cache, in the requesting descriptor's group, with INGOT_ORIGIN_STORAGE. Several prewarms
 * may run at once.
 *
 * An event callback in one of the prewarm's threads may request programs. If it requests a program whose builder waits
 * for the load in the callback's thread, that request returns INGOT_INVALID_ARGUMENTS, as it does if a builder requests
 * its own program.
 *
 * The prewarm holds references to the context and the storage. When the process exits, no further load begins, and
 * exit() waits for loads in progress as ingot_persist_flush describes for blobs. After fork, the child's prewarms are
 * over and return nothing.
 *
 * @retval INGOT_SUCCESS  Also if the manifest is missing, damaged or not trusted. It then counts as empty; an event and
 *                        ingot_prewarm_progress_t::manifest_status say why.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_prewarm_start(ingot_prewarm_t *prewarm, ingot_context_t context, ingot_storage_t storage,
                                             const ingot_prewarm_info_t *info);

/**
 * Waits until no load is in progress and all threads of the prewarm have ended. In a forked child, returns immediately.
 *
 * @param[in,out] progress  May be NULL; otherwise the caller sets struct_size.
 * @retval INGOT_BUSY  An event callback in one of the prewarm's threads made the call, which did not wait. Or a builder
 *                     made the call, and a callback in one of the prewarm's threads requested that builder's program.
 * @retval INGOT_INVALID_ARGUMENTS  @p prewarm is NULL, or @p progress has no struct_size. The call did not wait.
 */
INGOT_API ingot_status_t ingot_prewarm_wait(ingot_prewarm_t prewarm, ingot_prewarm_progress_t *progress);

/** Cancels the prewarm: no further load begins. Then waits as ingot_prewarm_wait does. Loaded programs stay until they
 *  are requested. Statuses as ingot_prewarm_wait; after INGOT_BUSY, it is canceled, but loads may still run. */
INGOT_API ingot_status_t ingot_prewarm_cancel(ingot_prewarm_t prewarm);

/** Returns the progress. @param[in,out] progress  The caller sets struct_size. @retval INGOT_INVALID_ARGUMENTS */
INGOT_API ingot_status_t ingot_prewarm_get_progress(ingot_prewarm_t prewarm, ingot_prewarm_progress_t *progress);

/** Cancels the prewarm, waits for its threads, and releases programs that were not requested. Does nothing for NULL. Do
 *  not call it from a callback in the prewarm's threads, or from a builder whose program such a callback may request.
 */
INGOT_API void ingot_prewarm_release(ingot_prewarm_t prewarm);

#ifdef __cplusplus
}
#endif

#endif
