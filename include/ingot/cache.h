/* SPDX-License-Identifier: MIT */
/* Stable. */
/**
 * @file cache.h
 * The front door of Ingot: one handle, for applications that want their compiled programs cached and nothing
 * else. Library ingot::cache (libingot-cache), which contains all of Ingot and opens the loaders of OpenCL, Level Zero,
 * CUDA and HIP at run time.
 *
 * @code
 * #include <ingot/opencl.h>
 *
 * // Open the cache once per process: ingot_cache_open(&cache, NULL).
 * ingot_status_t build(ingot_cache_t cache, cl_context context, cl_device_id device, const char *source,
 *                      cl_program *program)
 * {
 *     return ingot_cache_opencl_build(cache, context, 1, &device, source, 0, "-cl-mad-enable", program, NULL);
 * }
 * @endcode
 *
 * ingot_cache_opencl_build (ingot/opencl.h), ingot_cache_level_zero_create (ingot/level_zero.h) and
 * ingot_cache_cuda_load (ingot/cuda.h) return the application's own native objects. ingot/artifact.h caches bytes that
 * the application makes by itself. A NULL cache is valid in all functions that take one, and means "no cache": programs
 * are compiled. ingot/persist.h and ingot/ingot.h are for applications that need more.
 */
#ifndef INGOT_CACHE_H
#define INGOT_CACHE_H

#include <ingot/event.h>
#include <ingot/storage.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A cache of compiled programs: a directory of this machine, and a server behind it if one is named. */
typedef struct ingot_cache *ingot_cache_t;

/** Flags of a cache. */
typedef enum ingot_cache_open_flags {
    INGOT_CACHE_OPEN_READ_ONLY = 1, /**< Stores nothing, neither in the directory nor on the server. */
    /** Reads no INGOT_* variable. The default of the directory still follows XDG_CACHE_HOME and HOME. */
    INGOT_CACHE_OPEN_IGNORE_ENVIRONMENT = 2,
    INGOT_CACHE_OPEN_STRICT = 4, /**< A directory or a server that cannot be used makes ingot_cache_open fail. */
    /** Reports each program that is compiled, and each artifact that is made, because the cache has not got it: an
     * INGOT_EVENT_STORAGE_MISS and a line on standard error, with the reason. As INGOT_ON_MISS=report. */
    INGOT_CACHE_OPEN_REPORT_MISSES = 8,
    /** Never compiles: what the cache has not got fails with INGOT_NOT_FOUND, and the detail begins with the reason
     * that `ingot explain` gives. ingot_artifact_begin and ingot_artifact_get_or_create fail in the same way. This also
     * applies if the cache has no storage, or to a program that has no id. As INGOT_ON_MISS=fail. */
    INGOT_CACHE_OPEN_FAIL_ON_MISS = 16,
    INGOT_CACHE_OPEN_COMPILE_MISSES = 32, /**< Compiles what the cache has not got, whatever INGOT_ON_MISS says. */
    /** The functions that build programs never compile what a builder can (doc/builders.md): for a program that the
     * cache has not got, they leave a wish, and return INGOT_BUSY at once. The application uses something else, and
     * asks again. What nobody can be asked for, because it has no id, is for several devices, has just failed to
     * compile, or the store cannot be written, is compiled. Artifacts are made as always. As INGOT_ON_MISS=later. */
    INGOT_CACHE_OPEN_LATER = 64
} ingot_cache_open_flags_t;

/** Cache configuration. In each field, 0 or NULL means what the environment says (doc/environment.md), or else the
 *  default. Other values override the environment, except that INGOT_PERSIST=0 turns every cache off. */
typedef struct ingot_cache_info {
    size_t struct_size;
    /** The root of the directory store, created (0700) with the directories above it if it is missing. NULL:
     *  INGOT_PERSIST_DIR, otherwise $XDG_CACHE_HOME/ingot, otherwise $HOME/.cache/ingot. */
    const char *directory;
    /** A separate part of the directory and the server; see name_space of ingot_persist_info_t. NULL: none. */
    const char *name_space;
    /** The URL of a server that machines share; see url of ingot_remote_info_t. NULL: none. */
    const char *remote;
    uint64_t max_bytes; /**< The most bytes that the namespace may take in the directory; 0: 1 GiB. */
    /** Receives events of the cache, of its storages, and of all programs that are requested through it. It must work
     *  until the cache is released or the process has ended. NULL: none. */
    ingot_event_callback_t on_event;
    void *on_event_user;
    uint32_t flags; /**< ingot_cache_open_flags_t */
    /** How many processes may compile in the background what is begun (ingot/pending.h) or wished for
     *  (INGOT_CACHE_OPEN_LATER) and missing: at most 1024. The first miss starts the tool `ingot`, with low priority,
     *  unless another process has started it for the same directory and namespace on this machine. It ends ten seconds
     *  after the last wish, and with the last cache that uses it (doc/builders.md). 0: INGOT_BUILDERS, otherwise none.
     *  INGOT_NONE: none. */
    uint64_t builders;
} ingot_cache_info_t;
#define INGOT_CACHE_INFO_INIT                                                                                          \
    {                                                                                                                  \
        sizeof(ingot_cache_info_t), NULL, NULL, NULL, 0, NULL, NULL, 0, 0                                              \
    }

/**
 * Opens a cache. Does not connect to a server; the first request does.
 *
 * If the directory cannot be used, or persistence is off in the environment (INGOT_PERSIST=0), this function succeeds,
 * and the cache compiles every program (or, with INGOT_CACHE_OPEN_FAIL_ON_MISS, none). If only the server cannot be
 * used, the cache works without it. In both cases ingot_last_error_detail() says why, and so does an
 * INGOT_EVENT_STORAGE_DEGRADED unless persistence was turned off.
 *
 * A cache stores each program right after its build, unless INGOT_PERSIST_STORE_MODE says otherwise. On a device that
 * generates code at launch (PoCL), ingot_cache_flush or ingot_cache_release stores it once more if launches have added
 * code, and a program of more than 6 kernels is stored only then. Until then, the cache holds the programs that it has
 * built, at most 256, and so their OpenCL contexts. Open one cache per process and share
 * it: every thread may use it at once. In a child of fork, its parent's cache is off: it compiles every program, as a
 * NULL cache does, or none with INGOT_CACHE_OPEN_FAIL_ON_MISS. The first refusal there is reported by an
 * INGOT_EVENT_STORAGE_DEGRADED with INGOT_READ_ONLY. Open another cache there.
 *
 * @param[out] cache  Set on success only.
 * @param[in]  info   Copied. NULL: defaults.
 * @retval INGOT_SUCCESS
 * @retval INGOT_INVALID_ARGUMENTS  @p cache is NULL, or a field of @p info is malformed. The detail names it.
 * @retval INGOT_OUT_OF_MEMORY
 * @return With INGOT_CACHE_OPEN_STRICT, also the failure of ingot_persist_open or
 *         ingot_remote_open, if the directory or the server cannot be used.
 */
INGOT_API ingot_status_t ingot_cache_open(ingot_cache_t *cache, const ingot_cache_info_t *info);

/**
 * Flushes the cache and destroys it. No thread may use the cache any more. Native objects that were requested through
 * it stay valid, and so do storages that the application retained. If another thread is in ingot_persist_flush with
 * such a storage, waits until that has stored its present program, so that no event comes after the release. An event
 * callback must not call this function. Does nothing for NULL.
 */
INGOT_API void ingot_cache_release(ingot_cache_t cache);

/**
 * Stores everything that waits to be stored (ingot_persist_flush), and waits until pending uploads to the server are
 * done. Not needed before ingot_cache_release. exit() does neither.
 *
 * @param max_time_ms  The longest wait for uploads, after which no program is begun either; 0: no limit.
 * @par Threads  Any number at once.
 * @retval INGOT_SUCCESS  Also for a NULL cache, and for a cache that compiles everything.
 * @retval INGOT_READ_ONLY  In a child of fork, the cache is its parent's.
 * @retval INGOT_BUSY     The time has passed, or the server does not work at present. Something still waits.
 * @return Otherwise as ingot_persist_flush.
 */
INGOT_API ingot_status_t ingot_cache_flush(ingot_cache_t cache, uint64_t max_time_ms);

/**
 * Returns the storage of a cache: the directory store, or a chain of it and the server. With it, the application may
 * use every function of ingot/persist.h and of other headers, such as ingot_persist_get_stats.
 *
 * @param[out] storage  Borrowed: valid as long as the cache, or longer after ingot_storage_retain. Set on success only.
 * @par Threads  Any number at once.
 * @retval INGOT_NOT_FOUND          The cache is NULL or compiles everything, so it has no storage.
 * @retval INGOT_INVALID_ARGUMENTS  @p storage is NULL.
 */
INGOT_API ingot_status_t ingot_cache_get_storage(ingot_cache_t cache, ingot_storage_t *storage);

#ifdef __cplusplus
}
#endif

#endif
