/* SPDX-License-Identifier: MIT */
/**
 * @file persist.h
 * The bundled storages, and programs through a storage. Library ingot::persist, built on the public API alone.
 *
 * A directory store holds one entry a program, `<root>/[<namespace>/]<bucket>/<n>/{key.bin,kernel.bin}`, is shared by
 * threads and processes, survives crashes, and keeps itself below its limits. doc/store-format.md specifies it.
 * Nothing about a store makes ingot_persist_program_create fail: what cannot be loaded is compiled.
 */
#ifndef INGOT_PERSIST_H
#define INGOT_PERSIST_H

#include <ingot/storage.h>

#ifdef __cplusplus
extern "C" {
#endif

/** In what order a full store lets entries go. */
typedef enum ingot_persist_eviction {
    INGOT_PERSIST_EVICT_FIFO = 0, /**< Oldest created first. */
    INGOT_PERSIST_EVICT_LRU = 1,  /**< Least recently loaded first, to the second; FIFO where that cannot be noted. */
    INGOT_PERSIST_EVICT_OFF = 2   /**< Never: what would go over the limit is not stored. */
} ingot_persist_eviction_t;

/** When blobs are taken from the driver and stored. */
typedef enum ingot_persist_store_mode {
    /**
     * As what taking a blob costs. For most devices that is little: before ingot_persist_program_create returns.
     *
     * A device that generates code at launch (ingot_device_info_t) may need many times as long as for the build, its
     * blobs lack the code of later launches, and builds of the application wait for it. There, blobs are stored while
     * the process ends, within the storage's exit time, the most expensive builds first; and, if a quiet time is set,
     * in the background when no program was made through the storage for so long. What was lost is told.
     */
    INGOT_PERSIST_STORE_AUTO = 0,
    INGOT_PERSIST_STORE_NOW = 1,      /**< Before ingot_persist_program_create returns. */
    INGOT_PERSIST_STORE_ON_FLUSH = 2, /**< At ingot_persist_flush, the last release, or while the process ends. */
    /** In a thread of the storage, as soon as it can. */
    INGOT_PERSIST_STORE_BACKGROUND = 3
} ingot_persist_store_mode_t;

/** Flags of a directory store. */
typedef enum ingot_persist_flags {
    INGOT_PERSIST_READ_ONLY = 1,   /**< Never write, not even the directory. */
    INGOT_PERSIST_DURABLE = 2,     /**< fsync what is stored. Off by default: what is torn is detected. */
    INGOT_PERSIST_MAKE_PARENTS = 4 /**< Create (0700) the directories above the root that are missing. */
} ingot_persist_flags_t;

/** A directory store to be. */
typedef struct ingot_persist_info {
    size_t struct_size;
    const char *path;       /**< The root, created (0700) if missing; its parent must exist. Required. */
    const char *name_space; /**< First level below the root: 1 to 64 of [A-Za-z0-9._-], not digits alone, and
                                 none of ".", "..", "CACHEDIR.TAG", "index.bin", "lock", "size.txt",
                                 "tmp". NULL: none. */
    uint64_t max_bytes;     /**< Of the namespace's entries' files together; 0: 1 GiB. UINT64_MAX: no limit. */
    ingot_persist_eviction_t eviction;
    ingot_persist_store_mode_t store_mode;
    uint32_t lock_timeout_ms;           /**< How long accounting may wait for another process; 0: 200. */
    uint32_t flags;                     /**< ingot_persist_flags_t */
    const ingot_allocator_t *allocator; /**< Copied. NULL: the C library's. */
    ingot_event_callback_t on_event;    /**< NULL: none. ingot_persist_program_create tells the context's too. */
    void *on_event_user;
    /** Of the namespace's entries; 0: no limit. */
    uint64_t max_entries;
    /** Older entries are misses, and go: some when the store is opened, and some with each store. Age counts from
     *  creation, or with LRU from the last load; 0: no limit. */
    uint64_t max_age_seconds;
    uint64_t min_blob_bytes; /**< Smaller blobs are not stored (INGOT_NO_SPACE). */
    uint64_t max_blob_bytes; /**< Nor are larger ones; 0: no limit but the format's. */
    /** Of the limits, what an eviction leaves at most, most of it by the next stores: 1 to 100; 0: 50. */
    uint32_t low_water_percent;
    uint32_t exit_time_ms;  /**< As in ingot_persist_storing_t. */
    uint32_t quiet_time_ms; /**< Likewise. */
    const char *backends;   /**< As ingot_persist_set_backends takes it. NULL: all. */
} ingot_persist_info_t;
#define INGOT_PERSIST_INFO_INIT                                                                                        \
    {                                                                                                                  \
        sizeof(ingot_persist_info_t), NULL, NULL, 0, INGOT_PERSIST_EVICT_FIFO, INGOT_PERSIST_STORE_AUTO, 0, 0, NULL,   \
            NULL, NULL, 0, 0, 0, 0, 0, 0, 0, NULL                                                                      \
    }

/**
 * Sets the fields of @p info that the user's environment speaks of; nothing reads it unless this is called.
 *
 * INGOT_PERSIST=0 turns persistence off, 1 is as if unset. INGOT_PERSIST_DIR is the root; otherwise it is
 * $XDG_CACHE_HOME/ingot, otherwise $HOME/.cache/ingot (both only if absolute), with INGOT_PERSIST_MAKE_PARENTS;
 * otherwise persistence is off. doc/environment.md has all variables and how values are written. A value that nothing
 * uses, such as a limit of a store that is read-only, is not looked at. A setuid program reads none.
 *
 * @param[in,out] info           Initialized; its path becomes @p path. A name_space is behind it in the same memory.
 * @param[out]    path           Where the root is put; it must live until the store is opened.
 * @retval INGOT_NOT_FOUND          Persistence is off; the detail says why. @p info is untouched, as with any failure.
 * @retval INGOT_INVALID_ARGUMENTS  The detail names the variable and its value.
 * @retval INGOT_BUFFER_TOO_SMALL   @p path is too small for the root and the namespace.
 */
INGOT_API ingot_status_t ingot_persist_info_from_environment(ingot_persist_info_t *info, size_t path_capacity,
                                                             char *path);

/**
 * Opens a directory store.
 *
 * A relative path is one from the working directory of now. The store stays in the directory that it was opened in,
 * wherever that is moved; when it is deleted, the next miss or store opens or makes the one at the path, and tells by
 * an INGOT_EVENT_STORAGE_DEGRADED.
 *
 * @retval INGOT_INVALID_ARGUMENTS  A malformed info.
 * @retval INGOT_UNTRUSTED          The root is a link, not a directory, of another user (a store that is opened
 *                                  read-only may also be root's), or writable by others. The detail says its owner, its
 *                                  mode and the remedy.
 * @retval INGOT_NOT_FOUND          The directory that the root is to be in is missing; INGOT_PERSIST_MAKE_PARENTS makes
 *                                  it.
 * @retval INGOT_READ_ONLY          The root is missing and may not be made.
 * @retval INGOT_IO_ERROR, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_persist_open(ingot_storage_t *storage, const ingot_persist_info_t *info);

/** Where a program came from. */
typedef enum ingot_origin {
    INGOT_ORIGIN_MEMORY = 0,  /**< The in-memory cache, or another thread's build. */
    INGOT_ORIGIN_STORAGE = 1, /**< A blob of the storage. */
    INGOT_ORIGIN_BUILD = 2    /**< Compiled. */
} ingot_origin_t;
/** "memory", "storage" or "build". Never NULL. */
INGOT_API const char *ingot_origin_name(ingot_origin_t origin);

/**
 * The program of @p desc from memory, else from @p storage, else by compiling, after which it is stored.
 *
 * A blob that is refused is removed from the storage, built anew and stored again. A program that is not cacheable is
 * compiled. No failure of the storage is one of this function; events tell of them.
 *
 * @param[out] origin  May be NULL.
 * Statuses as ingot_program_create.
 */
INGOT_API ingot_status_t ingot_persist_program_create(ingot_program_t *program, const_ingot_program_desc_t desc,
                                                      ingot_storage_t storage, ingot_origin_t *origin);

/**
 * A kernel of the program of @p desc, which comes from where ingot_persist_program_create has it from.
 *
 * Some drivers look at a binary only when a kernel is made of it. Where one refuses it then (INGOT_BACKEND_ERROR or
 * INGOT_BLOB_REJECTED), and the program is from a blob, now or since earlier, the program is dropped from memory and
 * its blob from @p storage; it is compiled, stored again, and asked for the kernel once more. That is told by an
 * INGOT_EVENT_LOAD with INGOT_BLOB_REJECTED, counted as rejected, and, where the blob cannot be removed (a bundle, or a
 * chain that asks one first), told by an INGOT_EVENT_STORAGE_DEGRADED: then each process compiles. Programs and kernels
 * that others hold already are left as they are. What was compiled in this process is not compiled again.
 *
 * @param[in]  device_index  Of the context; one of the program's devices.
 * @param[out] origin        The program's; INGOT_ORIGIN_BUILD also where its blob was refused. May be NULL.
 * @retval INGOT_NOT_FOUND   The program has no such kernel.
 * Else statuses as ingot_persist_program_create and ingot_kernel_create.
 */
INGOT_API ingot_status_t ingot_persist_kernel_create(ingot_kernel_t *kernel, const_ingot_program_desc_t desc,
                                                     ingot_storage_t storage, uint32_t device_index, const char *name,
                                                     ingot_origin_t *origin);

/** In place of a time: none at all. */
#define INGOT_PERSIST_NO_TIME UINT32_MAX

/** When a storage stores, and for how long. */
typedef struct ingot_persist_storing {
    size_t struct_size;
    ingot_persist_store_mode_t store_mode;
    /** For how long exit() may be held up to store what waits; 0: 5000. INGOT_PERSIST_NO_TIME: not at all. */
    uint32_t exit_time_ms;
    /** INGOT_PERSIST_STORE_AUTO, devices that generate code at launch: for how long no program must have been made
     *  through the storage before it stores in the background; long enough for the first launches. 0 and
     *  INGOT_PERSIST_NO_TIME: never in the background. Set it only where the driver bears that: PoCL 3.1 ends the
     *  process if a kernel is first launched while its program's blob is taken. */
    uint32_t quiet_time_ms;
} ingot_persist_storing_t;
#define INGOT_PERSIST_STORING_INIT                                                                                     \
    {                                                                                                                  \
        sizeof(ingot_persist_storing_t), INGOT_PERSIST_STORE_AUTO, 0, 0                                                \
    }

/**
 * Sets when a storage of any kind stores the programs that are made from now on; the times also count for what waits.
 * What is INGOT_PERSIST_STORE_AUTO or 0 in a chain is as in the first of its tiers that can be written: a chain over a
 * store that stores at once stores at once.
 *
 * @par Threads  Any number at once.
 * @retval INGOT_INVALID_ARGUMENTS
 */
INGOT_API ingot_status_t ingot_persist_set_storing(ingot_storage_t storage, const ingot_persist_storing_t *storing);
/** What was set. @param[in,out] storing  struct_size set by the caller. @retval INGOT_INVALID_ARGUMENTS */
INGOT_API ingot_status_t ingot_persist_get_storing(ingot_storage_t storage, ingot_persist_storing_t *storing);

/**
 * Takes and stores what waits for it; returns when that is done, also what the storage's thread is at. Where it is
 * recorded what is asked for (ingot/prewarm.h), the record is saved, too.
 *
 * What waits holds its program and its context, whose event callback may be called until then, in any thread. At most
 * 256 programs and 64 MiB of their ids wait. Whoever adds one more stores the oldest first; of those that wait for a
 * quiet moment, the one that was the fastest to build is dropped, and an event tells. After fork, the child's queue is
 * empty. Called by a storage's event callback, it does not wait for what that callback is called from; such a callback
 * must not release the last reference.
 *
 * @par exit()
 * What waits when the process exits is stored by the storage's thread within its exit time; what is expected to take
 * longer is not begun. Then exit() waits for the one call of a driver that a thread of a storage is in, for 10 s since
 * it began or for the exit time, if that is longer. After that nothing is taken any more, this returns INGOT_BUSY where
 * something waits, and an INGOT_EVENT_STORAGE_DEGRADED tells how many programs were lost, in a thread of Ingot: so what
 * an event callback and a storage of the application's use must live until exit() is through with handlers that were
 * registered after the context was made. A call of a driver that takes longer than that may crash the process, because
 * the driver shuts down around it. Nothing is stored when a process is killed or ends by _exit() or quick_exit().
 *
 * @return The first failure since the last flush; all are tried.
 */
INGOT_API ingot_status_t ingot_persist_flush(ingot_storage_t storage);

/** How far a flush is. */
typedef struct ingot_persist_flush_progress {
    size_t struct_size;
    uint64_t stored_count; /**< Since it began, by whichever thread. */
    uint64_t failed_count;
    uint64_t stored_bytes;  /**< Of blobs. */
    uint64_t waiting_count; /**< Those that are being stored included. */
    uint64_t elapsed_ns;
} ingot_persist_flush_progress_t;
#define INGOT_PERSIST_FLUSH_PROGRESS_INIT                                                                              \
    {                                                                                                                  \
        sizeof(ingot_persist_flush_progress_t), 0, 0, 0, 0, 0                                                          \
    }

/** Not 0: go on. Called in the thread that flushes, with no lock held, after a program was stored or could not be. */
typedef int (*ingot_persist_flush_callback_t)(const ingot_persist_flush_progress_t *so_far, void *user);

/** How to flush. */
typedef struct ingot_persist_flush_info {
    size_t struct_size;
    uint64_t max_time_ns;                       /**< 0: no limit. */
    ingot_persist_flush_callback_t on_progress; /**< NULL: none. */
    void *user;
} ingot_persist_flush_info_t;
#define INGOT_PERSIST_FLUSH_INFO_INIT                                                                                  \
    {                                                                                                                  \
        sizeof(ingot_persist_flush_info_t), 0, NULL, NULL                                                              \
    }

/**
 * ingot_persist_flush within a time, and with progress. Most expensive builds first.
 *
 * With max_time_ns the storage's thread does the work, and this returns in time whatever the driver is at; a program
 * that is being stored then is stored in the background, and one that is expected to take longer than what is left is
 * not begun. Programs that are not stored yet wait on.
 *
 * @param[in]     info      NULL: as ingot_persist_flush.
 * @param[in,out] progress  How far it came, whatever is returned; struct_size set by the caller. May be NULL.
 * @par Threads  Any number at once.
 * @retval INGOT_BUSY  The time was up, or the callback ended it: something still waits.
 * @retval INGOT_INVALID_ARGUMENTS
 * @return Else as ingot_persist_flush.
 */
INGOT_API ingot_status_t ingot_persist_flush_with(ingot_storage_t storage, const ingot_persist_flush_info_t *info,
                                                  ingot_persist_flush_progress_t *progress);

/** What a storage of any kind did in this process, and what a directory store holds. */
typedef struct ingot_persist_stats {
    size_t struct_size;
    uint64_t hits, misses, stores;
    uint64_t refused; /**< Bad entries that were found; this and the next, of a directory store. */
    uint64_t evictions;
    uint64_t failures; /**< Loads and stores that failed otherwise than by a miss; by reason below. */
    uint64_t bytes;    /**< Of a directory store's namespace, by its size.txt; 0 for others. */
    uint64_t read_only, no_space, lock_timeouts, untrusted, corrupt, other_versions, io_errors, out_of_memory;
    uint64_t not_kept;  /**< Blobs outside of min_blob_bytes and max_blob_bytes. */
    uint64_t expired;   /**< Entries beyond max_age_seconds that a load found. */
    uint64_t unstamped; /**< Loads of which the time could not be noted: LRU is FIFO for those. */
    uint64_t rejected;  /**< Sound entries that the core or the driver refused, at a load or at a kernel. */
    uint64_t waiting;   /**< Programs that are to be stored later, now. */
    uint64_t leftovers; /**< What killed processes left behind in the store and was removed. */
} ingot_persist_stats_t;
#define INGOT_PERSIST_STATS_INIT                                                                                       \
    {                                                                                                                  \
        sizeof(ingot_persist_stats_t), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0                   \
    }
/**
 * The counts of a storage since it was made. Those of a chain are its own; each tier has its own, too.
 *
 * @param[in,out] stats  struct_size set by the caller.
 * @par Threads  Any number at once.
 * @retval INGOT_INVALID_ARGUMENTS
 */
INGOT_API ingot_status_t ingot_persist_get_stats(ingot_storage_t storage, ingot_persist_stats_t *stats);

/* ---- looking into a directory store, and keeping it ------------------------------------------------------ */

/* A store that was opened with a namespace means its namespace alone here; one without means all of them. Each may run
 * at the same time as anything else; entries that come and go meanwhile may be seen or not. A process may be killed in
 * any of them without harm. INGOT_UNIMPLEMENTED: neither a directory store nor, where that is said, a bundle. */

/** An entry, as its files have it. Pointers are valid during the callback only. */
typedef struct ingot_persist_entry {
    size_t struct_size;
    const char *name_space; /**< "" where it is in none. */
    uint64_t bucket;
    uint32_t number;
    /** INGOT_SUCCESS; INGOT_BLOB_TRUNCATED, INGOT_BLOB_CORRUPT: a bad entry; INGOT_BLOB_VERSION: of another format;
     *  INGOT_UNTRUSTED; INGOT_IO_ERROR; INGOT_OUT_OF_MEMORY: it could not be read. */
    ingot_status_t status;
    const char *reason;   /**< "" with INGOT_SUCCESS. */
    uint64_t identity;    /**< Differs when another entry takes its place. */
    uint64_t bytes;       /**< Of its files together. */
    size_t blob_size;     /**< This and all below: 0 or NULL where the header is no good. */
    uint64_t created_ns;  /**< Since 1970-01-01 00:00 UTC. */
    uint64_t last_use_ns; /**< Likewise; created_ns where no use was noted. */
    size_t id_size;
    const uint8_t *id;
} ingot_persist_entry_t;

/** Not 0: go on. */
typedef int (*ingot_persist_visit_t)(const ingot_persist_entry_t *entry, void *user);

/**
 * Calls @p visit for each entry of a store or a bundle, ordered by bucket and number; blobs are not read.
 *
 * A callback may load, remove and store. INGOT_SUCCESS also where it ended the visit.
 * @retval INGOT_IO_ERROR  The store, or a part of it, could not be listed; what could was visited.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_UNIMPLEMENTED, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_persist_for_each(ingot_storage_t storage, ingot_persist_visit_t visit, void *user);

/** The verified blob of this very entry; no hit is counted and no use noted.
 *  @retval INGOT_NOT_FOUND  It is gone, or another is in its place. Else the entry's statuses. */
INGOT_API ingot_status_t ingot_persist_load_entry(ingot_storage_t storage, const ingot_persist_entry_t *entry,
                                                  ingot_buffer_t *blob);
/** Removes this very entry. @retval INGOT_NOT_FOUND  As above. Else as ingot_storage_remove. */
INGOT_API ingot_status_t ingot_persist_remove_entry(ingot_storage_t storage, const ingot_persist_entry_t *entry);

/** What verifying found. */
typedef struct ingot_persist_verification {
    size_t struct_size;
    uint64_t entry_count; /**< To be verified. */
    uint64_t done_count;  /**< Less where the callback ended it. */
    uint64_t done_bytes;
    uint64_t bad_count;      /**< Truncated or corrupt. */
    uint64_t removed_count;  /**< Bad ones that were taken away. */
    uint64_t foreign_count;  /**< Of another format version, or not trusted: left alone. */
    uint64_t unread_count;   /**< Neither good nor bad: the operating system failed, or memory was short. */
    uint64_t leftover_count; /**< What killed processes left in tmp; with repair it is removed. */
    uint64_t leftover_bytes; /**< Of the files of that. */
} ingot_persist_verification_t;
#define INGOT_PERSIST_VERIFICATION_INIT                                                                                \
    {                                                                                                                  \
        sizeof(ingot_persist_verification_t), 0, 0, 0, 0, 0, 0, 0, 0, 0                                                \
    }

/** Told after each entry; @p entry's status is that of all of it. Not 0: go on. */
typedef int (*ingot_persist_progress_t)(const ingot_persist_verification_t *so_far, const ingot_persist_entry_t *entry,
                                        void *user);

/**
 * Reads every entry and holds all checksums, and that its bucket is its id's.
 *
 * @param repair    Not 0: bad entries and what killed processes left are taken away, and size.txt is set right.
 * @param progress  NULL: none.
 * @retval INGOT_SUCCESS    Done, or ended by the callback; @p found says what there was.
 * @retval INGOT_READ_ONLY  To be repaired and opened read-only.
 */
INGOT_API ingot_status_t ingot_persist_verify(ingot_storage_t storage, int repair, ingot_persist_progress_t progress,
                                              void *user, ingot_persist_verification_t *found);

/** To what a store is to be reduced. */
typedef struct ingot_persist_limits {
    size_t struct_size;
    /** UINT64_MAX in any of them: no limit, as INGOT_PERSIST_LIMITS_INIT has it. Zero is a limit here, unlike in other
     *  structures: nothing is to be left. */
    uint64_t max_bytes;
    uint64_t max_entries;
    uint64_t max_age_seconds; /**< By the order of eviction: since creation, or since the last use. */
} ingot_persist_limits_t;
#define INGOT_PERSIST_LIMITS_INIT                                                                                      \
    {                                                                                                                  \
        sizeof(ingot_persist_limits_t), UINT64_MAX, UINT64_MAX, UINT64_MAX                                             \
    }

/**
 * Lets entries go in the store's order (that of FIFO where eviction is off) until these limits are kept.
 *
 * @param[out] entry_count, bytes  What went; each may be NULL. Set whatever is returned.
 * @retval INGOT_BUSY  The lock was not to be had within its timeout.
 * @retval INGOT_READ_ONLY, INGOT_IO_ERROR, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_persist_evict(ingot_storage_t storage, const ingot_persist_limits_t *limits,
                                             uint64_t *entry_count, uint64_t *bytes);

/** Removes every entry of the store (of its namespace, where it has one), and what killed processes left. Statuses as
 *  ingot_persist_evict. */
INGOT_API ingot_status_t ingot_persist_clear(ingot_storage_t storage);

/** What recounting found. */
typedef struct ingot_persist_count {
    size_t struct_size;
    uint64_t entry_count;
    uint64_t counted_bytes;
    uint64_t recorded_bytes; /**< What size.txt said before. */
    int is_recorded;         /**< 0: size.txt was missing or said nothing. */
} ingot_persist_count_t;
#define INGOT_PERSIST_COUNT_INIT                                                                                       \
    {                                                                                                                  \
        sizeof(ingot_persist_count_t), 0, 0, 0, 0                                                                      \
    }

/** Counts the store and sets its index and size.txt right; a read-only store is counted only.
 *  Statuses as ingot_persist_evict. */
INGOT_API ingot_status_t ingot_persist_recount(ingot_storage_t storage, ingot_persist_count_t *count);

/**
 * Sets the limits of an open directory store: max_bytes, max_entries and max_age_seconds. 0 stands for the default, as
 * in ingot_persist_info_t, and UINT64_MAX for the lack of a limit. The next store evicts what is over them;
 * ingot_persist_evict does it at once. Other processes that have the store open go by their own.
 *
 * @par Threads  Any number at once, with any use of the store.
 * @retval INGOT_UNIMPLEMENTED  @p storage is not a directory store.
 * @retval INGOT_INVALID_ARGUMENTS
 */
INGOT_API ingot_status_t ingot_persist_set_limits(ingot_storage_t storage, const ingot_persist_limits_t *limits);
/** The limits in force, with the defaults in place. @param[in,out] limits  struct_size set by the caller.
 *  Statuses as ingot_persist_set_limits. */
INGOT_API ingot_status_t ingot_persist_get_limits(ingot_storage_t storage, ingot_persist_limits_t *limits);

/* ---- any storage, while it is in use ----------------------------------------------------------------------- */

/**
 * Turns a storage of any kind off and on. One that is off has nothing (INGOT_NOT_FOUND) and takes nothing
 * (INGOT_READ_ONLY), so programs are compiled; in a chain the other tiers go on. What waits to be stored is refused if
 * it is off at that moment, and events tell.
 *
 * @param is_enabled  0: off. On where nothing was said.
 * @par Threads  Any number at once; requests that are under way may end either way.
 * @retval INGOT_INVALID_ARGUMENTS
 */
INGOT_API ingot_status_t ingot_persist_set_enabled(ingot_storage_t storage, int is_enabled);

/**
 * For which backends the programs and kernels that are asked for through this storage are loaded and stored; those of
 * others are compiled.
 *
 * @param backends  Names as of ingot_context_get_backend_name, in either case, separated by commas: "opencl,cuda" is
 *                  these two, "-level_zero" all but this one. At most 127 bytes. Copied. NULL, as "", is all.
 * @par Threads  Any number at once.
 * @retval INGOT_INVALID_ARGUMENTS
 */
INGOT_API ingot_status_t ingot_persist_set_backends(ingot_storage_t storage, const char *backends);

/* ---- other storages -------------------------------------------------------------------------------------- */

/**
 * A storage that is one file with one program's blob, for a program that runs one program. Another program's blob
 * replaces it. Nothing else is written but, for a moment, the same name with ".new" behind it.
 *
 * @param path  The file, which may be missing; its directory must exist.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_NOT_FOUND (the directory), INGOT_IO_ERROR, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_persist_open_file(ingot_storage_t *storage, const char *path);

/**
 * A read-only storage of many blobs in one file, to ship with an application. doc/bundle-format.md.
 *
 * Its index is read and verified here. Each blob is read and verified when it is first loaded; it then stays in memory
 * until the storage and its blobs are released, and is handed out without a copy. The file stays open and must not be
 * changed meanwhile: one that is to be replaced is renamed over. Where it is truncated all the same, first loads fail
 * with INGOT_BLOB_TRUNCATED. ingot_persist_for_each,
 * ingot_persist_load_entry and ingot_persist_verify (without repair) take a bundle, too.
 *
 * @retval INGOT_NOT_FOUND  No such file.
 * @retval INGOT_UNTRUSTED  A link, no file, of a user other than this and root, or writable by others.
 * @retval INGOT_BLOB_TRUNCATED, INGOT_BLOB_CORRUPT, INGOT_BLOB_VERSION
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_IO_ERROR, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_persist_open_bundle(ingot_storage_t *storage, const char *path);

/**
 * Writes the sound entries of a directory store or a bundle to a new bundle, which then replaces what is at @p path.
 *
 * Others may use the store meanwhile. Of entries with the same id (in several namespaces), the newest is taken.
 *
 * @param select            NULL: all. Else not 0: this entry is to be in it.
 * @param[out] entry_count  In the bundle. May be NULL.
 * @retval INGOT_BUSY       Another process is writing the same bundle.
 * @retval INGOT_NOT_FOUND  The directory that it is to be in is missing.
 * @retval INGOT_UNIMPLEMENTED, INGOT_INVALID_ARGUMENTS, INGOT_READ_ONLY, INGOT_NO_SPACE, INGOT_IO_ERROR,
 *         INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_persist_write_bundle(ingot_storage_t storage, const char *path,
                                                    ingot_persist_visit_t select, void *user, uint64_t *entry_count);

/**
 * A storage that stands for another one, which can be exchanged while it is in use: an application makes it once, and
 * points it to another store, or to none, when its user says so.
 *
 * It takes over the target's store mode and times as they are then, where nothing was said to it. Programs that wait
 * are stored in what it is switched to when their turn comes. Its statistics are its own. What looks into a directory
 * store takes the target.
 *
 * @param target  A reference is taken. NULL: none, the storage is off.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_persist_switch(ingot_storage_t *storage, ingot_storage_t target);
/**
 * From now on @p storage stands for @p target. The reference to the one before is dropped when the last operation in
 * it has ended, in the thread of that operation or in this one; if it is the last reference, that stores what waits
 * for it.
 *
 * @param target  Not @p storage itself, nor a chain or a switch that leads to it. NULL: none.
 * @par Threads  Any number at once, with any use of the storage.
 * @retval INGOT_UNIMPLEMENTED  @p storage was not made by ingot_persist_switch.
 * @retval INGOT_INVALID_ARGUMENTS
 */
INGOT_API ingot_status_t ingot_persist_switch_to(ingot_storage_t storage, ingot_storage_t target);

/**
 * Storages in order: the first that has a blob gives it, and it is stored in those before; what is stored goes to the
 * first that can be written; what is removed is removed from all that can be written. That is INGOT_READ_ONLY where one
 * that cannot, before all that can, has it, too. References are taken.
 *
 * @param tier_count  1 to 16.
 */
INGOT_API ingot_status_t ingot_persist_chain(ingot_storage_t *storage, size_t tier_count, const ingot_storage_t *tiers);

#ifdef __cplusplus
}
#endif

#endif
