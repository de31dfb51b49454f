/* SPDX-License-Identifier: MIT */
/**
 * @file storage.h
 * For applications with storage of their own: a table of three operations that keeps blobs by id.
 *
 * ingot_storage_create makes a storage of such a table; ingot/persist.h bundles storages made for the file system and
 * ingot_persist_program_create, which works with any of them. Library ingot::persist.
 */
#ifndef INGOT_STORAGE_H
#define INGOT_STORAGE_H

#include <ingot/ingot.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes that a storage hands out. Whoever has one calls release once, in any thread, if it is not NULL. */
typedef struct ingot_buffer {
    size_t size;
    const uint8_t *bytes;
    void (*release)(struct ingot_buffer *buffer);
    void *owner; /**< For release. */
} ingot_buffer_t;
#define INGOT_BUFFER_INIT                                                                                              \
    {                                                                                                                  \
        0, NULL, NULL, NULL                                                                                            \
    }

/** Keeps blobs by id; reference-counted. */
typedef struct ingot_storage *ingot_storage_t;

/**
 * A storage's operations; each may be called from any number of threads at once. load is required. A storage should
 * compare ids in full; what it hands out is verified by the core all the same.
 */
typedef struct ingot_storage_ops {
    size_t struct_size;
    /** The blob of @p id. @retval INGOT_NOT_FOUND  A miss. Any other failure counts as a miss, and is reported. */
    ingot_status_t (*load)(void *self, size_t id_size, const uint8_t *id, ingot_buffer_t *blob);
    /** Keeps or replaces. NULL: read-only. @retval INGOT_READ_ONLY, INGOT_NO_SPACE, INGOT_BUSY, INGOT_IO_ERROR */
    ingot_status_t (*store)(void *self, size_t id_size, const uint8_t *id, size_t blob_size, const uint8_t *blob);
    /** Forgets; INGOT_NOT_FOUND where there is none. NULL: cannot. */
    ingot_status_t (*remove)(void *self, size_t id_size, const uint8_t *id);
    /** The last call. NULL: nothing to do. */
    void (*destroy)(void *self);
} ingot_storage_ops_t;

/** A storage over @p ops (copied) and @p self, which it owns on success.
 *  @retval INGOT_INVALID_ARGUMENTS, INGOT_OUT_OF_MEMORY */
INGOT_API ingot_status_t ingot_storage_create(ingot_storage_t *storage, const ingot_storage_ops_t *ops, void *self);
/** One more reference. */
INGOT_API ingot_status_t ingot_storage_retain(ingot_storage_t storage);
/** Letting go of the last reference does what ingot_persist_flush does, then destroys. */
INGOT_API void ingot_storage_release(ingot_storage_t storage);

/** The three operations, through the table. @p blob must be released with its release function.
 *  Statuses as in ingot_storage_ops_t; INGOT_READ_ONLY where a table has no store or remove. */
INGOT_API ingot_status_t ingot_storage_load(ingot_storage_t storage, size_t id_size, const uint8_t *id,
                                            ingot_buffer_t *blob);
INGOT_API ingot_status_t ingot_storage_store(ingot_storage_t storage, size_t id_size, const uint8_t *id,
                                             size_t blob_size, const uint8_t *blob);
INGOT_API ingot_status_t ingot_storage_remove(ingot_storage_t storage, size_t id_size, const uint8_t *id);

#ifdef __cplusplus
}
#endif

#endif
