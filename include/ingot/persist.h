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
    INGOT_PERSIST_EVICT_OFF = 2   /**< Never: what would go over the limit is not stored. */
} ingot_persist_eviction_t;

/** When blobs are taken from the driver and stored. */
typedef enum ingot_persist_store_mode {
    /** At once, except for devices that generate code at launch, whose blobs are taken at ingot_persist_flush. */
    INGOT_PERSIST_STORE_AUTO = 0,
    INGOT_PERSIST_STORE_NOW = 1,     /**< Before ingot_persist_program_create returns. */
    INGOT_PERSIST_STORE_ON_FLUSH = 2 /**< At ingot_persist_flush or the last release; programs are held until then. */
} ingot_persist_store_mode_t;

/** Flags of a directory store. */
typedef enum ingot_persist_flags {
    INGOT_PERSIST_READ_ONLY = 1, /**< Never write, not even the directory. */
    INGOT_PERSIST_DURABLE = 2    /**< fsync what is stored. Off by default: what is torn is detected. */
} ingot_persist_flags_t;

/** A directory store to be. */
typedef struct ingot_persist_info {
    size_t struct_size;
    const char *path;       /**< The root, created (0700) if missing; its parent must exist. Required. */
    const char *name_space; /**< First level below the root: [A-Za-z0-9._-]+, not "." or "..". NULL: none. */
    uint64_t max_bytes;     /**< Of all entries' files together; 0: 1 GiB. UINT64_MAX: no limit. */
    ingot_persist_eviction_t eviction;
    ingot_persist_store_mode_t store_mode;
    uint32_t lock_timeout_ms; /**< How long accounting may wait for another process; 0: 200. */
    uint32_t flags;           /**< ingot_persist_flags_t */
    const ingot_allocator_t *allocator; /**< Copied. NULL: the C library's. */
    ingot_event_callback_t on_event;    /**< NULL: none. ingot_persist_program_create tells the context's too. */
    void *on_event_user;
} ingot_persist_info_t;
#define INGOT_PERSIST_INFO_INIT                                                                                     \
    {                                                                                                               \
        sizeof(ingot_persist_info_t), NULL, NULL, 0, INGOT_PERSIST_EVICT_FIFO, INGOT_PERSIST_STORE_AUTO, 0, 0, NULL, \
            NULL, NULL                                                                                              \
    }

/**
 * Opens a directory store.
 *
 * @retval INGOT_INVALID_ARGUMENTS  A malformed info.
 * @retval INGOT_UNTRUSTED          The root is a link, no directory, of another user, or writable by others.
 * @retval INGOT_READ_ONLY          The root is missing and cannot be made.
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

/** Takes and stores what waits for it; returns when that is done. The first failure is returned, all are tried. */
INGOT_API ingot_status_t ingot_persist_flush(ingot_storage_t storage);

/** What a directory store did in this process, and holds. */
typedef struct ingot_persist_stats {
    size_t struct_size;
    uint64_t hits, misses, stores, refused, evictions, failures;
    uint64_t bytes; /**< Of the store, by its size.txt. */
} ingot_persist_stats_t;
#define INGOT_PERSIST_STATS_INIT { sizeof(ingot_persist_stats_t), 0, 0, 0, 0, 0, 0, 0 }
/** @retval INGOT_UNIMPLEMENTED  @p storage is not a directory store. */
INGOT_API ingot_status_t ingot_persist_get_stats(ingot_storage_t storage, ingot_persist_stats_t *stats);

/** Removes every entry of the store (of its namespace, where it has one). */
INGOT_API ingot_status_t ingot_persist_clear(ingot_storage_t storage);

#ifdef __cplusplus
}
#endif

#endif
