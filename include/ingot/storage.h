/* SPDX-License-Identifier: MIT */
/**
 * @file storage.h
 * The interface of a storage, for applications that store blobs themselves: a table of operations on blobs by id.
 *
 * ingot_storage_create creates a storage from such a table. ingot/persist.h has bundled storages for the file system,
 * and ingot_persist_program_create, which works with any storage. Library ingot::persist.
 */
#ifndef INGOT_STORAGE_H
#define INGOT_STORAGE_H

#include <ingot/ingot.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes that a storage returns. Its holder calls release once, in any thread, if release is not NULL. Until then the
 * bytes must not change: they are checked first and used later. So do not map a file that others may write. */
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

/** A storage, which keeps blobs by id. Reference-counted. */
typedef struct ingot_storage *ingot_storage_t;

/**
 * A storage's operations. Any number of threads may call each at once. load is required. A storage should compare ids
 * in full. The core verifies every blob that a storage returns.
 */
typedef struct ingot_storage_ops {
    size_t struct_size;
    /** Returns the blob of @p id.
     *  @retval INGOT_NOT_FOUND  A miss. Any other failure counts as a miss and is reported. */
    ingot_status_t (*load)(void *self, size_t id_size, const uint8_t *id, ingot_buffer_t *blob);
    /** Stores or replaces a blob, which may be in a seal (ingot/trust.h). NULL: read-only.
     *  @retval INGOT_READ_ONLY, INGOT_NO_SPACE, INGOT_BUSY, INGOT_IO_ERROR */
    ingot_status_t (*store)(void *self, size_t id_size, const uint8_t *id, size_t blob_size, const uint8_t *blob);
    /** Removes a blob; INGOT_NOT_FOUND if there is none. NULL: not supported. */
    ingot_status_t (*remove)(void *self, size_t id_size, const uint8_t *id);
    /** Destroys the storage. This is the last call. NULL: nothing to do. */
    void (*destroy)(void *self);
} ingot_storage_ops_t;

/** Creates a storage over @p ops (copied) and @p self, which it owns on success.
 *  @retval INGOT_INVALID_ARGUMENTS, INGOT_OUT_OF_MEMORY */
INGOT_API ingot_status_t ingot_storage_create(ingot_storage_t *storage, const ingot_storage_ops_t *ops, void *self);
/** Adds a reference. */
INGOT_API ingot_status_t ingot_storage_retain(ingot_storage_t storage);
/** Drops a reference. Dropping the last one flushes as ingot_persist_flush does, then destroys the storage. */
INGOT_API void ingot_storage_release(ingot_storage_t storage);

/** Loads a blob through the table, without its seal. The caller releases @p blob with its release function.
 *  Statuses as in ingot_storage_ops_t; INGOT_UNTRUSTED if the storage's policy refuses the blob (ingot/trust.h). */
INGOT_API ingot_status_t ingot_storage_load(ingot_storage_t storage, size_t id_size, const uint8_t *id,
                                            ingot_buffer_t *blob);
/** Stores a blob through the table. Statuses as in ingot_storage_ops_t; INGOT_READ_ONLY if the table has no store.
 *  A storage with a policy (ingot/trust.h) seals it, and returns INGOT_UNTRUSTED for a sealed blob that it refuses. */
INGOT_API ingot_status_t ingot_storage_store(ingot_storage_t storage, size_t id_size, const uint8_t *id,
                                             size_t blob_size, const uint8_t *blob);
/** Removes a blob through the table. Statuses as in ingot_storage_ops_t; INGOT_READ_ONLY if the table has no remove. */
INGOT_API ingot_status_t ingot_storage_remove(ingot_storage_t storage, size_t id_size, const uint8_t *id);

#ifdef __cplusplus
}
#endif

#endif
