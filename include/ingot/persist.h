/* SPDX-License-Identifier: MIT */
/* Stable, advanced. */
/**
 * @file persist.h
 * Storages that come with Ingot, and functions that get programs through a storage. ingot/storage.h is the interface of
 * a storage. Library ingot::persist.
 *
 * A directory store holds one entry per program, `<root>/[<namespace>/]<hh>/<30 digits>/{key.bin,kernel.bin}`. Threads
 * and processes share it. It survives crashes and stays within its limits. doc/store-format.md specifies it. A failing
 * store never makes ingot_persist_program_create fail: programs that cannot be loaded are compiled.
 *
 * @code
 * #include <ingot/ingot.h>
 * #include <ingot/persist.h>
 *
 * // Gets a program from memory, from a directory, or from the compiler. An application opens its storage only once.
 * ingot_status_t get(ingot_program_t *program, const_ingot_program_desc_t desc, const char *directory)
 * {
 *     ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
 *     ingot_storage_t storage = NULL;
 *     info.path = directory;
 *     ingot_status_t status = ingot_persist_open(&storage, &info);
 *     if (status == INGOT_SUCCESS)
 *         status = ingot_persist_program_create(program, desc, storage, NULL);
 *     ingot_storage_release(storage);
 *     return status;
 * }
 * @endcode
 */
#ifndef INGOT_PERSIST_H
#define INGOT_PERSIST_H

#include <ingot/storage.h>
#include <ingot/trust.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The order in which a full store evicts entries. */
typedef enum ingot_persist_eviction {
    /** Evicts the least recently loaded entry first. Times are noted in seconds. FIFO if they cannot be noted. */
    INGOT_PERSIST_EVICT_LRU = 0,
    INGOT_PERSIST_EVICT_FIFO = 1, /**< Evicts the oldest entry first. */
    INGOT_PERSIST_EVICT_OFF = 2   /**< Never evicts: blobs that would exceed the limit are not stored. */
} ingot_persist_eviction_t;

/** When a storage takes blobs from the driver and stores them. */
typedef enum ingot_persist_store_mode {
    /** As INGOT_PERSIST_STORE_NOW, except for a program of more than 6 kernels on a device that generates code at
     * launch (ingot_device_info_t), which may take many times as long to provide the blob as it took to build. Such a
     * program is stored as with INGOT_PERSIST_STORE_ON_FLUSH. */
    INGOT_PERSIST_STORE_AUTO = 0,
    /** Before ingot_persist_program_create returns. On a device that generates code at launch, once more by the next
     *  flush if the blob has grown by then. */
    INGOT_PERSIST_STORE_NOW = 1,
    INGOT_PERSIST_STORE_ON_FLUSH = 2 /**< By ingot_persist_flush, or the last release of the storage. */
} ingot_persist_store_mode_t;

/** What a request does that a storage cannot answer, so that a program would be compiled, or an artifact made. */
typedef enum ingot_persist_on_miss {
    INGOT_PERSIST_ON_MISS_COMPILE = 0, /**< Compiles it. */
    /** Compiles it, and reports that: an INGOT_EVENT_STORAGE_MISS, and a line on standard error. */
    INGOT_PERSIST_ON_MISS_REPORT = 1,
    /** Fails with INGOT_NOT_FOUND, for a process that must not compile, such as a server that starts from a cache that
     * was delivered with it. The error sentence begins with the reason that `ingot explain` gives: the nearest entry,
     * and the field in which it differs. This also applies to a program that has no id, and to a binary that the
     * driver rejects. */
    INGOT_PERSIST_ON_MISS_FAIL = 2,
    /** The functions of ingot_cache_t that build programs leave a wish and return INGOT_BUSY (doc/builders.md).
     *  Everything else as INGOT_PERSIST_ON_MISS_COMPILE. */
    INGOT_PERSIST_ON_MISS_LATER = 3
} ingot_persist_on_miss_t;

/** Flags of a directory store. */
typedef enum ingot_persist_flags {
    INGOT_PERSIST_READ_ONLY = 1,     /**< Never writes, and does not create the directory. */
    INGOT_PERSIST_MAKE_PARENTS = 4,  /**< Creates (0700) missing directories above the root. */
    INGOT_PERSIST_NO_BUILD_WAIT = 8, /**< Does not wait for a process that compiles the same program. */
    /** Keeps in the store the requests of its programs, with their sources, so that `ingot build --stale` can rebuild
     *  them for another driver. Has no effect if the store is read-only. See record_path of ingot_persist_info_t. */
    INGOT_PERSIST_KEEP_REQUESTS = 16,
    INGOT_PERSIST_FROM_ENVIRONMENT = 32 /**< Reads variables of the environment, which win over the info's fields. */
} ingot_persist_flags_t;

/** Directory store configuration. In limits and times, 0 is the default, and INGOT_UNLIMITED and INGOT_NONE have their
 *  general meaning (ingot/ingot.h). */
typedef struct ingot_persist_info {
    size_t struct_size;
    const char *path; /**< The root, created (0700) if missing; its parent must exist. Required, unless the
                       *   environment names it. */
    /** A directory name in the root: 1 to 64 of [A-Za-z0-9._-], not only digits, not two digits of lower-case
     *  hexadecimal, and none of ".", "..", "CACHEDIR.TAG", "evicted", "index.bin", "lock",
     *  "saved.txt", "size.txt", "tmp", "wanted". NULL: none. */
    const char *name_space;
    uint64_t max_bytes; /**< The most bytes that the file system allocates for the entries' files; 0: 1 GiB. */
    ingot_persist_eviction_t eviction;
    ingot_persist_store_mode_t store_mode;
    uint64_t lock_timeout_ms;           /**< How long to wait while another process has the store's lock; 0: 200 ms. */
    uint32_t flags;                     /**< ingot_persist_flags_t */
    const ingot_allocator_t *allocator; /**< Copied. NULL: the C library's. */
    /** Receives the store's events. NULL: none. ingot_persist_program_create also calls the context's callback. */
    ingot_event_callback_t on_event;
    void *on_event_user;
    /** The maximum number of entries in the namespace; 0: no limit. */
    uint64_t max_entries;
    /** Older entries are misses and are removed, also when the store is opened and when blobs are stored. Age counts
     * from creation, or with LRU from the last load; 0: no limit. */
    uint64_t max_age_ms;
    uint64_t min_blob_bytes; /**< Smaller blobs are not stored (INGOT_NO_SPACE). */
    uint64_t max_blob_bytes; /**< Larger blobs are not stored either; 0: the format's limit. */
    /** The low-water mark of an eviction, in percent of the limits, 1 to 100; 0: 50. The thread that stores a blob
     *  evicts entries until the store is at the mark, or for a short time: then, further stores continue. A store may
     *  exceed its limits by a fifth if it has more than 4096 entries, or if other processes keep its lock. A blob for
     *  which there is still no room is not stored (INGOT_NO_SPACE or INGOT_BUSY). */
    uint32_t low_water_percent;
    /** The longest time that ingot_persist_program_create waits while another process compiles the program. 0: 10
     * minutes. Also limits the wait for one of the build_jobs. */
    uint64_t build_wait_ms;
    /** The policy for seals, and its keys (ingot/trust.h). NULL: INGOT_PERSIST_TRUST_NONE. A store that is opened with
     * INGOT_PERSIST_READ_ONLY and INGOT_PERSIST_TRUST_REQUIRE may belong to any user, and others may write it, because
     * every blob is checked. */
    const ingot_persist_trust_t *trust;
    /** The root of another directory store, created if missing, in which the requests of programs are recorded: what
     * they are compiled from, without binaries (doc/request-format.md). `ingot build` compiles them for the devices of
     * a machine and stores them under the same ids, so that the application compiles nothing.
     *
     * A program is recorded when ingot_persist_program_create loads or compiles it, before the call returns, if the
     * store is the storage or a tier of the chain that is asked. That never makes a request fail: on_event receives an
     * INGOT_EVENT_STORAGE_DEGRADED with the reason, once per status, also if the other store cannot be opened. It has
     * this store's namespace and trust, and the default limits. NULL: none. Copied. */
    const char *record_path;
    /** The maximum number of compilations that run at the same time on this machine, counting all processes that use
     * the store and have a limit; 0: no limit. INGOT_NONE is refused. See ingot_persist_program_create. */
    uint64_t build_jobs;
    ingot_persist_on_miss_t on_miss; /**< Also for a chain in which this store is the first tier that has a policy. */
    /** Called with INGOT_PERSIST_FROM_ENVIRONMENT alone, before the store is opened, with what was read. May change the
     * settings, for example a limit that users may not raise; what they point to must live until the store is open.
     * Any status but INGOT_SUCCESS is returned, and nothing is opened. NULL: none. */
    ingot_status_t (*adjust)(struct ingot_persist_info *info, void *user);
    void *adjust_user;
} ingot_persist_info_t;
#define INGOT_PERSIST_INFO_INIT                                                                                        \
    {                                                                                                                  \
        sizeof(ingot_persist_info_t), NULL, NULL, 0, INGOT_PERSIST_EVICT_LRU, INGOT_PERSIST_STORE_AUTO, 0, 0, NULL,    \
            NULL, NULL, 0, 0, 0, 0, 0, 0, NULL, NULL, 0, INGOT_PERSIST_ON_MISS_COMPILE, NULL, NULL                     \
    }

/**
 * Opens a directory store.
 *
 * A relative path is relative to the current working directory of this call. Each operation opens the directory at that
 * path. If the directory is deleted or moved, the next attempt to store a blob creates it again.
 *
 * With INGOT_PERSIST_FROM_ENVIRONMENT, opens the store that the user's environment names, with the settings that it
 * specifies. Only this flag and ingot_cache_open read these variables. INGOT_PERSIST=0 turns persistence off; 1 is the
 * same as unset. INGOT_PERSIST_DIR is the root. If it is unset, the root is $XDG_CACHE_HOME/ingot, otherwise
 * $HOME/.cache/ingot (each only if absolute), with INGOT_PERSIST_MAKE_PARENTS. If there is no root, persistence is off;
 * path is not used. doc/environment.md lists all variables and the syntax of their values. Values without an effect,
 * such as a limit of a read-only store, are not checked. A setuid program reads no variables. A limit or time of 0 is
 * the same as an unset variable; "unlimited" and "none" are INGOT_UNLIMITED and INGOT_NONE. No thread may change the
 * environment meanwhile.
 *
 * @retval INGOT_INVALID_ARGUMENTS  @p info is malformed, or a variable's value is wrong; the detail names both.
 * @retval INGOT_UNTRUSTED          The root is another user's link, is not a directory, belongs to another user (a
 *                                  store that is opened read-only may also belong to root, and with required seals to
 *                                  any user), or is writable by others; or one of these applies to a key file
 *                                  (ingot_persist_set_trust). The detail has owner, mode and remedy.
 * @retval INGOT_NOT_FOUND          The root's parent directory (INGOT_PERSIST_MAKE_PARENTS creates it) or a key file
 *                                  is missing, or the environment turns persistence off; the detail says why.
 * @retval INGOT_READ_ONLY          The root is missing, its parent is not, and the root must not be created.
 * @retval INGOT_BLOB_CORRUPT, INGOT_BLOB_VERSION  A key file is malformed, or of a later version.
 * @retval INGOT_IO_ERROR, INGOT_OUT_OF_MEMORY
 * @return Otherwise the status with which adjust of @p info stopped.
 */
INGOT_API ingot_status_t ingot_persist_open(ingot_storage_t *storage, const ingot_persist_info_t *info);

/**
 * Keeps what the context learns about included files (doc/hermetic-builds.md) in the store, one entry per program,
 * until the storage is released. The next process does not read files that have not changed. Call it after creating the
 * context and before creating descriptors, and use the same storage for the programs. Another storage takes the place
 * of an earlier one.
 *
 * An entry is loaded when a descriptor needs it, and stored as soon as it is learned. It counts and is evicted like the
 * entries of programs, but never leaves the store (doc/probes-format.md). Entries are neither loaded nor stored while
 * the storage is off (ingot_persist_settings_t). A failure only costs time. The store's callback gets these loads and
 * stores; its statistics do not count them. Does nothing if the context's memo is off.
 *
 * @param[in] storage  A directory store, or a chain that stores to one. It may be released before @p context, and the
 *                     context holds no reference to it.
 * @par Threads  Any number at once.
 * @retval INGOT_UNTRUSTED      The store belongs to another user, or serves files of any user.
 * @retval INGOT_UNIMPLEMENTED  Another kind of storage, or the library has no build-id.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_persist_remember_headers(ingot_storage_t storage, ingot_context_t context);

/**
 * Returns the program of @p desc from memory or, failing that, from @p storage. Otherwise compiles and stores it. The
 * caller releases the program.
 *
 * If a blob is rejected, it is removed from the storage, and the program is compiled and stored again. A program that
 * is not cacheable is compiled. Failures of the storage do not make this function fail; events report them.
 *
 * @par Processes
 * If another process is compiling the program for the same directory store, this function waits until the store has its
 * blob and loads it (INGOT_ORIGIN_STORAGE). If that process ends without storing a blob, one of the waiting processes
 * compiles. If the store does not accept the program, or it does not compile, all waiting processes compile
 * immediately. After build_wait_ms of ingot_persist_info_t, this function compiles the program as well, and an
 * INGOT_EVENT_STORAGE_DEGRADED with INGOT_BUSY reports that.
 *
 * This function does not wait for threads of this process that compile the program for another context, or that have
 * compiled it with INGOT_PROGRAM_NO_MEMORY_CACHE and are storing it. It does not wait in a thread that is compiling
 * another program. It does not wait if the storage has INGOT_PERSIST_STORE_ON_FLUSH. In a chain, its first writable
 * directory store decides this. Processes do not wait if the store is read-only or has
 * INGOT_PERSIST_NO_BUILD_WAIT. If a storage behind that store gives leases (ingot_storage_ops_t), this function
 * waits for other machines in the same way (ingot/remote.h says for how long).
 *
 * With build_jobs of ingot_persist_info_t, at most that many of these processes' threads compile at the same time; the
 * others wait, in no order. The place of a process that ends is free at once. After build_wait_ms,
 * this function compiles anyway, and an INGOT_EVENT_STORAGE_DEGRADED with INGOT_BUSY reports that. A thread that is
 * already compiling, and compiles another program meanwhile, does not wait. On a network file system whose locks reach
 * other machines, all of them share the limit.
 *
 * @param[out] origin  May be NULL.
 * @retval INGOT_NOT_FOUND  The program would have to be compiled, which the storage's policy forbids
 *                          (INGOT_PERSIST_ON_MISS_FAIL).
 * Other statuses as ingot_program_get.
 */
INGOT_API ingot_status_t ingot_persist_program_create(ingot_program_t *program, const_ingot_program_desc_t desc,
                                                      ingot_storage_t storage, ingot_origin_t *origin);

/**
 * Returns a kernel of the program of @p desc, which it gets as ingot_persist_program_create does. The caller releases
 * the kernel.
 *
 * Some drivers examine a binary only when they create a kernel from it. If the driver then rejects a binary from a blob
 * (INGOT_BACKEND_ERROR or INGOT_BLOB_REJECTED), the program is dropped from memory and its blob from @p storage. The
 * program is compiled and stored again, and the kernel is requested again, at most three times. An INGOT_EVENT_LOAD
 * with INGOT_BLOB_REJECTED reports this, and the statistics count it as rejected. If the blob cannot be removed (from a
 * bundle, or from a chain that asks a bundle first), an INGOT_EVENT_STORAGE_DEGRADED reports it, and every process
 * compiles. Existing references to programs and kernels stay valid. Programs that this process compiled are not
 * compiled again.
 *
 * @param[in]  device_index  One of the program's devices, by its index in the context.
 * @param[out] origin        The program's origin; INGOT_ORIGIN_BUILD also if its blob was rejected. May be NULL.
 * @retval INGOT_NOT_FOUND   The program has no such kernel.
 * Other statuses as ingot_persist_program_create and ingot_kernel_create.
 */
INGOT_API ingot_status_t ingot_persist_kernel_create(ingot_kernel_t *kernel, const_ingot_program_desc_t desc,
                                                     ingot_storage_t storage, uint32_t device_index, const char *name,
                                                     ingot_origin_t *origin);

/** The settings of a storage of any kind that may change while threads use it. 0 in each field is the setting of a new
 *  storage, except that of a directory store, whose info (ingot_persist_info_t) sets most of them. */
typedef struct ingot_persist_settings {
    size_t struct_size;
    /** Not 0: the storage returns INGOT_NOT_FOUND for loads and INGOT_READ_ONLY for stores, so programs are compiled.
     *  In a chain the other tiers continue. If the storage is off when a waiting program is flushed, the program is not
     *  stored, and an event reports it. */
    int is_off;
    /** Not 0: each chain that contains the storage stores every blob in it, too, even if an earlier tier takes the
     *  blob. Used for tiers that machines share (ingot/remote.h). If storing the blob there fails with a status other
     *  than INGOT_READ_ONLY, the chain's first tier with an event callback gets an INGOT_EVENT_STORAGE_DEGRADED. The
     *  chain returns only the status of its first writable tier. Blobs that a load copies from one tier to another are
     *  not stored in the storage. */
    int write_through;
    /** When to store the programs that are created from now on. For a chain, INGOT_PERSIST_STORE_AUTO means the setting
     *  of its first writable tier: if that tier stores immediately, so does the chain. */
    ingot_persist_store_mode_t store_mode;
    /** The limits of a directory store, as in ingot_persist_info_t; 0 for all other storages. 0 stands for the default,
     *  which ingot_persist_get_settings fills in. The entries that exceed new limits are evicted by the threads that
     *  store the next blobs. A store of more than 4096 entries stores none while it exceeds a limit by more than a
     *  fifth (INGOT_NO_SPACE). ingot_persist_evict evicts all of these entries at once.
     *  Other processes that have the store open use their own limits. */
    uint64_t max_bytes, max_entries, max_age_ms;
} ingot_persist_settings_t;
#define INGOT_PERSIST_SETTINGS_INIT                                                                                    \
    {                                                                                                                  \
        sizeof(ingot_persist_settings_t), 0, 0, INGOT_PERSIST_STORE_AUTO, 0, 0, 0                                      \
    }

/** Returns a storage's settings. @param[in,out] settings  The caller sets struct_size.
 *  @retval INGOT_INVALID_ARGUMENTS */
INGOT_API ingot_status_t ingot_persist_get_settings(ingot_storage_t storage, ingot_persist_settings_t *settings);
/**
 * Sets all of a storage's settings, for requests that begin from now on. To change some of them, get the settings
 * first; if two threads do this at once, one may undo the other's change. Fields that the struct_size of @p settings
 * leaves out are not changed.
 *
 * @par Threads  Any number at once. Requests in progress may use either settings.
 * @retval INGOT_UNIMPLEMENTED      A limit is not 0, and @p storage is not a directory store.
 * @retval INGOT_INVALID_ARGUMENTS  After any failure, the settings are unchanged.
 */
INGOT_API ingot_status_t ingot_persist_set_settings(ingot_storage_t storage, const ingot_persist_settings_t *settings);

/** What a flush has done. */
typedef struct ingot_persist_flush_progress {
    size_t struct_size;
    uint64_t stored_count;
    uint64_t failed_count;
    uint64_t stored_bytes;  /**< Bytes of the stored blobs. */
    uint64_t waiting_count; /**< Programs that still wait, or that others are storing. */
} ingot_persist_flush_progress_t;
#define INGOT_PERSIST_FLUSH_PROGRESS_INIT                                                                              \
    {                                                                                                                  \
        sizeof(ingot_persist_flush_progress_t), 0, 0, 0, 0                                                             \
    }

/** Flush configuration. */
typedef struct ingot_persist_flush_info {
    size_t struct_size;
    /** No program is begun after this time; 0: no limit. INGOT_NONE: no program is stored. */
    uint64_t max_time_ms;
} ingot_persist_flush_info_t;
#define INGOT_PERSIST_FLUSH_INFO_INIT                                                                                  \
    {                                                                                                                  \
        sizeof(ingot_persist_flush_info_t), 0                                                                          \
    }

/**
 * Stores the programs that wait, in the calling thread, the oldest first.
 *
 * At most 256 programs wait. Each holds a reference to the program and its context. A further program takes the place
 * of the oldest one that is stored already; if there is none, it is not stored, and an event reports it. The last
 * release of the storage stores what still waits. exit() stores nothing: an application that ends without a flush or a
 * release has not stored these programs.
 *
 * A program that was stored right after its build waits, too, on a device that generates code at launch. If its blob
 * has grown, the new one replaces the old one in one step. If not, or if that fails, the old one stays. It is looked at
 * once, so flush after the first launches. On PoCL, such a look takes about 3 ms, and only programs that are built of
 * one source, without headers and link options, grow.
 *
 * A driver that generates code at launch is busy while it provides a blob, and PoCL must not launch a kernel of the
 * same program for the first time meanwhile.
 *
 * @param[in]     info      NULL: no time limit.
 * @param[in,out] progress  Set for every status; the caller sets struct_size. May be NULL.
 * @par Threads  Any number at once. A callback that this function calls may call it, too, but must not release the last
 *               reference to the storage.
 * @retval INGOT_BUSY  The time ran out, or other flushes that are in progress are still storing programs.
 * @retval INGOT_INVALID_ARGUMENTS
 * @return Otherwise the first failure to store a program, which does not stop the rest of the flush. A program that
 *         turned out to be not cacheable, or that the store's limits exclude, is not a failure; its
 *         INGOT_EVENT_STORAGE_STORE reports it.
 */
INGOT_API ingot_status_t ingot_persist_flush(ingot_storage_t storage, const ingot_persist_flush_info_t *info,
                                             ingot_persist_flush_progress_t *progress);

/** Counts of a storage of any kind in this process, and the size of a directory store. */
typedef struct ingot_persist_stats {
    size_t struct_size;
    /** A request that waits for another process counts a miss each time that it looks, and a hit if it succeeds. */
    uint64_t hits, misses, stores;
    uint64_t refused; /**< Bad entries found. Only a directory store counts these and evictions. */
    uint64_t evictions;
    uint64_t failures; /**< Loads and stores that failed, except misses; read_only to out_of_memory count them by
                        *   reason. */
    uint64_t bytes;    /**< Size of a directory store's namespace according to size.txt; 0 for other storages. */
    uint64_t read_only, no_space, lock_timeouts, untrusted, corrupt, other_versions, io_errors, out_of_memory;
    uint64_t not_kept;  /**< Blobs outside the range of min_blob_bytes and max_blob_bytes. */
    uint64_t expired;   /**< Entries older than max_age_ms that a load found. */
    uint64_t unstamped; /**< Loads whose time could not be noted: LRU is FIFO for these entries. */
    /** Valid entries that the core or the driver rejected, during a load or when a kernel was created. */
    uint64_t rejected;
    uint64_t waiting;       /**< Programs that wait for a flush, also those that may be stored once more. */
    uint64_t leftovers;     /**< Leftovers of killed processes, over an hour old, that were removed from the store. */
    uint64_t awaited;       /**< Programs that were loaded after waiting for another process, which compiled them. */
    uint64_t wait_timeouts; /**< Programs that were compiled because waiting for another process took too long. */
    /** Loaded blobs that were refused because of their seal. A directory store also counts them as untrusted, other
     * storages by the load's status. */
    uint64_t distrusted;
} ingot_persist_stats_t;
#define INGOT_PERSIST_STATS_INIT                                                                                       \
    {                                                                                                                  \
        sizeof(ingot_persist_stats_t), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0          \
    }
/**
 * Returns the counts of a storage since it was created. A chain and each of its tiers count separately.
 *
 * @param[in,out] stats  The caller sets struct_size.
 * @par Threads  Any number at once.
 * @retval INGOT_INVALID_ARGUMENTS
 */
INGOT_API ingot_status_t ingot_persist_get_stats(ingot_storage_t storage, ingot_persist_stats_t *stats);

/* ---- limits ---------------------------------------------------------------------------------------------- */

/** The progress of an eviction. */
typedef struct ingot_persist_upkeep_progress {
    size_t struct_size;
    uint64_t entry_count; /**< Found so far. */
    uint64_t bytes;       /**< Size of these entries. */
    uint64_t removed_count;
    uint64_t removed_bytes;
} ingot_persist_upkeep_progress_t;

/** Receives progress after one or more entries, in the calling thread with no lock held. Returns INGOT_SUCCESS to
 *  continue. Any other status stops the work and is returned by the function that does it. */
typedef ingot_status_t (*ingot_persist_upkeep_callback_t)(const ingot_persist_upkeep_progress_t *so_far, void *user);

/** The limits that a store is reduced to. */
typedef struct ingot_persist_limits {
    size_t struct_size;
    /** The maximum size of all files, as the file system allocates it. In this field and the next two, INGOT_UNLIMITED
     * means no limit, and INGOT_NONE that nothing remains. 0 means the store's own limit. */
    uint64_t max_bytes;
    uint64_t max_entries;
    uint64_t max_age_ms; /**< Since creation or since the last use, depending on the eviction order. */
    /** Receives the progress. NULL: none. */
    ingot_persist_upkeep_callback_t on_progress;
    void *user;
} ingot_persist_limits_t;
#define INGOT_PERSIST_LIMITS_INIT                                                                                      \
    {                                                                                                                  \
        sizeof(ingot_persist_limits_t), 0, 0, 0, NULL, NULL                                                            \
    }

/**
 * Evicts entries of a directory store, or of its namespace, in the store's order (FIFO if eviction is off) until it is
 * within these limits. Other functions may run at the same time.
 *
 * @param[out] entry_count, bytes  The evicted amount, set for every status; each may be NULL.
 * @return INGOT_SUCCESS, or the status with which the callback stopped the eviction.
 * @retval INGOT_BUSY  The lock was not acquired within its timeout.
 * @retval INGOT_UNIMPLEMENTED  Not a directory store.
 * @retval INGOT_READ_ONLY, INGOT_IO_ERROR, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_persist_evict(ingot_storage_t storage, const ingot_persist_limits_t *limits,
                                             uint64_t *entry_count, uint64_t *bytes);

/* ---- other storages -------------------------------------------------------------------------------------- */

/**
 * Opens a storage that is one file with one program's blob, for an application with a single program. Another program's
 * blob replaces it. The only other file written is a temporary one with ".new" appended to the name.
 *
 * @param path   The file, which may be missing; its directory must exist.
 * @param trust  The policy for seals. With INGOT_PERSIST_TRUST_REQUIRE, the file may belong to any user, and others may
 *               write it. Such a file is read-only: storing or removing its blob returns INGOT_READ_ONLY. NULL:
 *               INGOT_PERSIST_TRUST_NONE.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_NOT_FOUND (the directory), INGOT_IO_ERROR, INGOT_OUT_OF_MEMORY
 * @return For @p trust as ingot_persist_set_trust.
 */
INGOT_API ingot_status_t ingot_persist_open_file(ingot_storage_t *storage, const char *path,
                                                 const ingot_persist_trust_t *trust);

/**
 * Opens a bundle: a read-only storage of many blobs in one file, to ship with an application. See doc/bundle-format.md.
 *
 * Reads and verifies the bundle's index. Each load reads and verifies its blob, and gives it memory of its own, which
 * needs neither the storage nor the file. The file stays open and must not be changed; to replace it, rename a new file
 * over it. If it is truncated anyway, loads fail with INGOT_BLOB_TRUNCATED. `ingot bundle` makes bundles.
 *
 * @param trust  The policy for seals. With INGOT_PERSIST_TRUST_REQUIRE, the file may belong to any user, and others may
 *               write it, because every blob is checked. NULL: INGOT_PERSIST_TRUST_NONE.
 * @retval INGOT_NOT_FOUND  No such file.
 * @retval INGOT_UNTRUSTED  The path is a link or not a file, or the file is owned by a user other than this one and
 *                          root, or is writable by others.
 * @retval INGOT_BLOB_TRUNCATED, INGOT_BLOB_CORRUPT, INGOT_BLOB_VERSION
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_IO_ERROR, INGOT_OUT_OF_MEMORY
 * @return For @p trust as ingot_persist_set_trust.
 */
INGOT_API ingot_status_t ingot_persist_open_bundle(ingot_storage_t *storage, const char *path,
                                                   const ingot_persist_trust_t *trust);

/**
 * Creates a chain: a storage that consists of several storages, its tiers, in order. A load returns the blob of the
 * first tier that has it and stores it in the writable tiers before that one. The chain stores a new blob in the first
 * writable tier. It removes a blob from all writable tiers, and returns INGOT_READ_ONLY if a read-only tier before all
 * of these also has the blob.
 *
 * A load never undoes what happens to the blob meanwhile: it stores what a lower tier has only where nothing else is,
 * and not if the blob was removed through the same chain since the load began. In a custom storage, it may replace what
 * another chain or process has stored there since then.
 *
 * If storing the blob in such a tier fails, the chain's first tier with an event callback gets an
 * INGOT_EVENT_STORAGE_DEGRADED, and the next load tries again. A chain in another chain has its own queue of programs:
 * flush it directly.
 *
 * @param tier_count  1 to 16.
 * @param tiers       The chain takes a reference to each.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_persist_chain(ingot_storage_t *storage, size_t tier_count, const ingot_storage_t *tiers);

#ifdef __cplusplus
}
#endif

#endif
