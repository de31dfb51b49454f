/* SPDX-License-Identifier: MIT */
/**
 * @file prewarm.h
 * Loads the programs that a previous run used, in parallel, before they are asked for. Library ingot::persist.
 *
 * One run records: what is asked of a storage is noted in a manifest, a file that the application names
 * (doc/manifest-format.md). The next one prewarms: threads load the manifest's programs in order and keep them until
 * they are asked for by ingot_persist_program_create, which waits for a load that is under way, and for that one only.
 *
 * Nothing is ever compiled ahead. An id for another driver, compiler, device or library is skipped before anything
 * is read; a program that the storage lacks, or a blob that is refused, is skipped too; events tell of each.
 */
#ifndef INGOT_PREWARM_H
#define INGOT_PREWARM_H

#include <ingot/persist.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- recording ------------------------------------------------------------------------------------------- */

/** A record to be. */
typedef struct ingot_persist_record_info {
    size_t struct_size;
    const char *path;     /**< The manifest; it may be missing, its directory must exist. Copied. Required. */
    uint32_t max_entries; /**< Programs in it; 0: 4096. At most 65536. */
    uint32_t keep_runs;   /**< A program that more runs in a row did not ask for is left out; 0: 8. */
    uint64_t max_bytes;   /**< Of the file; 0: 4 MiB. At most 64 MiB. */
    ingot_event_callback_t on_event; /**< NULL: none. Told of what is saved, and of what is left out and why. */
    void *on_event_user;
} ingot_persist_record_info_t;
#define INGOT_PERSIST_RECORD_INFO_INIT                                                                                 \
    {                                                                                                                  \
        sizeof(ingot_persist_record_info_t), NULL, 0, 0, 0, NULL, NULL                                                 \
    }

/**
 * From now on notes the programs that ingot_persist_program_create loads or compiles with this storage, each once. What
 * it finds in memory was noted when it got there, unless it got there by another way.
 *
 * Nothing is written before ingot_persist_record_save, ingot_persist_flush, or the storage's last release: a process
 * that is killed or exits before leaves the manifest of the run before. A forked child records nothing.
 *
 * @param[in] info  NULL: ends recording, after saving. A record that is there is ended so, too.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_OUT_OF_MEMORY
 * @return Else why the record that ended could not be saved; the new one has begun all the same.
 */
INGOT_API ingot_status_t ingot_persist_record(ingot_storage_t storage, const ingot_persist_record_info_t *info);

/**
 * Puts what was noted into the manifest, together with what other processes and the runs before put there.
 *
 * @retval INGOT_SUCCESS    Also where nothing is recorded, or nothing new.
 * @retval INGOT_BUSY       Another process was writing it all the time (200 ms).
 * @retval INGOT_NOT_FOUND  The directory that it is to be in is missing.
 * @retval INGOT_UNTRUSTED  The file is a link, no file, of another user, or writable by others.
 * @retval INGOT_READ_ONLY, INGOT_NO_SPACE, INGOT_IO_ERROR, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_persist_record_save(ingot_storage_t storage);

/** One id of a manifest. Pointers are valid during the callback only. Not 0: go on. */
typedef int (*ingot_persist_manifest_visit_t)(size_t id_size, const uint8_t *id, uint32_t age, void *user);

/**
 * Calls @p visit for each id of a manifest, in order.
 *
 * @retval INGOT_NOT_FOUND  There is no such file.
 * @retval INGOT_BLOB_TRUNCATED, INGOT_BLOB_CORRUPT, INGOT_BLOB_VERSION, INGOT_UNTRUSTED  Refused; nothing was visited.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_IO_ERROR, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_persist_read_manifest(const char *path, ingot_persist_manifest_visit_t visit,
                                                     void *user);

/* ---- prewarming ------------------------------------------------------------------------------------------ */

/** Programs that are loaded ahead. */
typedef struct ingot_prewarm *ingot_prewarm_t;

/** Whether a prewarm goes on, or why it ended. */
typedef enum ingot_prewarm_state {
    INGOT_PREWARM_RUNNING = 0,
    INGOT_PREWARM_COMPLETE = 1,  /**< All of the manifest was looked at. */
    INGOT_PREWARM_CANCELLED = 2, /**< By a call or a callback. */
    INGOT_PREWARM_OUT_OF_TIME = 3,
    INGOT_PREWARM_OUT_OF_BYTES = 4 /**< The next blob would have gone over the limit. */
} ingot_prewarm_state_t;

/** How far a prewarm is. */
typedef struct ingot_prewarm_progress {
    size_t struct_size;
    ingot_prewarm_state_t state;
    ingot_status_t manifest_status; /**< Why the manifest gave nothing; INGOT_SUCCESS where it was read. */
    uint64_t total;                 /**< Programs in the manifest. */
    uint64_t done;                  /**< Of these: all below but taken. */
    uint64_t loaded;
    uint64_t stale;     /**< For another device, driver, compiler or library. */
    uint64_t missing;   /**< Not in the storage. */
    uint64_t failed;    /**< Refused, or not loaded for another reason. */
    uint64_t overtaken; /**< Asked for before their turn: who asked loads by itself. */
    uint64_t taken;     /**< Of those loaded: asked for since. */
    uint64_t bytes;     /**< Of the blobs that were loaded. */
} ingot_prewarm_progress_t;
#define INGOT_PREWARM_PROGRESS_INIT                                                                                    \
    {                                                                                                                  \
        sizeof(ingot_prewarm_progress_t), INGOT_PREWARM_RUNNING, INGOT_SUCCESS, 0, 0, 0, 0, 0, 0, 0, 0, 0              \
    }

/**
 * Told after each program, in the thread that loaded it, with no lock held; so from several threads at once, and what
 * it is told may be older than what another call was told. It may cancel, and must not release.
 * @return 0 to cancel, else go on.
 */
typedef int (*ingot_prewarm_callback_t)(const ingot_prewarm_progress_t *progress, void *user);

/** A prewarm to be. */
typedef struct ingot_prewarm_info {
    size_t struct_size;
    const char *manifest;                 /**< Its path. Read before ingot_prewarm_start returns. Required. */
    uint32_t thread_count;                /**< 0: 2. At most 64; no more than there are programs. */
    uint64_t max_bytes;                   /**< Of the blobs that are loaded, together; 0: no limit. */
    uint64_t max_time_ns;                 /**< No load begins later than this after the start; 0: no limit. */
    ingot_prewarm_callback_t on_progress; /**< NULL: none. */
    void *on_progress_user;
} ingot_prewarm_info_t;
#define INGOT_PREWARM_INFO_INIT                                                                                        \
    {                                                                                                                  \
        sizeof(ingot_prewarm_info_t), NULL, 0, 0, 0, NULL, NULL                                                        \
    }

/**
 * Begins to load a manifest's programs from @p storage for @p context; returns when the threads run.
 *
 * What is loaded is held by the prewarm, outside of the context's in-memory cache and its limits, until it is asked for
 * or the prewarm is released. Whoever asks for it by ingot_persist_program_create with this context and this storage
 * gets it into the in-memory cache, in the group of who asks, with INGOT_ORIGIN_STORAGE. Several may run at once.
 *
 * The callback of an event in one of its threads may ask for programs, too. If it asks for one whose maker waits for
 * the load that the thread is in, that request is INGOT_INVALID_ARGUMENTS, as for a builder of the program itself.
 *
 * The prewarm holds the context and the storage. exit() waits for loads that are under way, as ingot_persist_flush has
 * it for blobs that are taken, and no other begins. After fork the child's prewarms are over and give nothing.
 *
 * @retval INGOT_SUCCESS  Also where the manifest is missing, damaged or not trusted: then it is empty, an event tells
 *                        why, and so does ingot_prewarm_progress_t::manifest_status.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_prewarm_start(ingot_prewarm_t *prewarm, ingot_context_t context, ingot_storage_t storage,
                                             const ingot_prewarm_info_t *info);

/**
 * Returns when no load goes on and no thread of the prewarm runs any more.
 *
 * @param[out] progress  May be NULL; else struct_size set by the caller.
 * @retval INGOT_BUSY  Called in one of its threads, by an event's callback; nothing was waited for. Or called by a
 *                     builder, and a callback in one of its threads asked for what that builder makes.
 * @retval INGOT_INVALID_ARGUMENTS
 */
INGOT_API ingot_status_t ingot_prewarm_wait(ingot_prewarm_t prewarm, ingot_prewarm_progress_t *progress);

/** Begins no more loads and waits as ingot_prewarm_wait does. What was loaded stays until asked for. Statuses as there;
 *  INGOT_BUSY: cancelled, and not waited for. */
INGOT_API ingot_status_t ingot_prewarm_cancel(ingot_prewarm_t prewarm);

/** @param[out] progress  struct_size set by the caller. @retval INGOT_INVALID_ARGUMENTS */
INGOT_API ingot_status_t ingot_prewarm_get_progress(ingot_prewarm_t prewarm, ingot_prewarm_progress_t *progress);

/** Cancels, waits, and lets go of what nobody asked for. NULL does nothing. Not from a callback of its threads, nor
 *  from a builder whose program such a callback may ask for. */
INGOT_API void ingot_prewarm_release(ingot_prewarm_t prewarm);

#ifdef __cplusplus
}
#endif

#endif
