/* SPDX-License-Identifier: MIT */
/* Stable, advanced. */
/**
 * @file storage.h
 * The interface of a storage, for applications that store blobs themselves: a table of operations on blobs by id.
 *
 * ingot_storage_create creates a storage from such a table. ingot/persist.h has ready-made storages for the file
 * system, and ingot_persist_program_create, which works with any storage. Library ingot::persist.
 *
 * @code
 * #include <ingot/storage.h>
 *
 * static ingot_status_t load(void *self, size_t id_size, const uint8_t *id, ingot_buffer_t *blob)
 * {
 *     (void)self; (void)id_size; (void)id; (void)blob;
 *     return INGOT_NOT_FOUND; // otherwise blob gets bytes, their size, and a function that releases them
 * }
 *
 * // A storage in which nothing can be stored.
 * ingot_status_t make_storage(ingot_storage_t *storage)
 * {
 *     const ingot_storage_ops_t ops = {.struct_size = sizeof(ops), .load = load};
 *     return ingot_storage_create(storage, &ops, NULL);
 * }
 * @endcode
 */
#ifndef INGOT_STORAGE_H
#define INGOT_STORAGE_H

#include <ingot/ingot.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes that a storage returns. The receiver calls release once, in any thread, if release is not NULL. Until then,
 * the bytes must not change, because Ingot checks them first and uses them later. So do not return a mapping of a file
 * that other users or processes may write. */
typedef struct ingot_buffer {
    size_t size;
    const uint8_t *bytes;
    void (*release)(struct ingot_buffer *buffer);
    void *owner; /**< For use by release. */
} ingot_buffer_t;
#define INGOT_BUFFER_INIT                                                                                              \
    {                                                                                                                  \
        0, NULL, NULL, NULL                                                                                            \
    }

/** A storage, which keeps blobs by id. Reference-counted. */
typedef struct ingot_storage *ingot_storage_t;

/** Where a program came from. */
typedef enum ingot_origin {
    INGOT_ORIGIN_MEMORY = 0,  /**< The in-memory cache, or another thread's build. */
    INGOT_ORIGIN_STORAGE = 1, /**< A blob of the storage. */
    INGOT_ORIGIN_BUILD = 2    /**< Compiled. */
} ingot_origin_t;
/** Returns "memory", "storage" or "build"; "unknown origin" for any other value. Never returns NULL. */
INGOT_API const char *ingot_origin_name(ingot_origin_t origin);

/** A storage's answer to a request for a lease. */
typedef enum ingot_lease_answer {
    INGOT_LEASE_TAKEN = 0,  /**< The caller has the lease, and the storage has no blob of the id. */
    INGOT_LEASE_BUSY = 1,   /**< Another machine has it. */
    INGOT_LEASE_STORED = 2, /**< The storage has a blob of the id. */
    /** The caller should compile immediately, because the storage gives no leases now or waiting is useless. */
    INGOT_LEASE_NONE = 3
} ingot_lease_answer_t;

/**
 * A storage's operations. Any number of threads may call each at once. load is required. A storage should compare ids
 * in full. The core verifies every blob that a storage returns.
 */
typedef struct ingot_storage_ops {
    size_t struct_size;
    /** Returns the blob of @p id.
     *  @retval INGOT_NOT_FOUND  A miss. Any other failure counts as a miss and is reported. */
    ingot_status_t (*load)(void *self, size_t id_size, const uint8_t *id, ingot_buffer_t *blob);
    /** Stores or replaces a blob, which may be sealed (ingot/trust.h). The bytes are valid during the call. NULL: the
     *  storage is read-only.
     *  @retval INGOT_READ_ONLY, INGOT_NO_SPACE, INGOT_BUSY, INGOT_IO_ERROR */
    ingot_status_t (*store)(void *self, size_t id_size, const uint8_t *id, size_t blob_size, const uint8_t *blob);
    /** Removes a blob; INGOT_NOT_FOUND if there is none. NULL: not supported. */
    ingot_status_t (*remove)(void *self, size_t id_size, const uint8_t *id);
    /** Destroys the storage. No operation is called afterwards. NULL: nothing to do. */
    void (*destroy)(void *self);
    /**
     * Asks for the lease of @p id, and does not wait for its holder. With leases, one of the machines that share a
     * storage compiles a program while the others wait. ingot_persist_program_create asks for one if the storage
     * belongs to a chain that stores every blob in it (write_through of ingot_persist_settings_t).
     *
     * A lease only saves time: if it is lost, a program is compiled twice. It lasts until it is ended; if its holder
     * dies, another machine can get it afterwards. For INGOT_LEASE_TAKEN, sets @p lease to a value other than NULL;
     * otherwise leaves it unchanged. NULL: the storage gives no leases.
     */
    ingot_lease_answer_t (*take_lease)(void *self, size_t id_size, const uint8_t *id, void **lease);
    /** Ends a lease that take_lease returned. If a blob was stored in the meantime, the lease ends once the blob is
     * available to the other machines; this function does not wait for that. If no blob was stored, another machine may
     * take the lease. If @p may_others_take is 0, all machines get INGOT_LEASE_NONE for some time instead. Set if and
     * only if take_lease is set. */
    void (*end_lease)(void *self, void *lease, int may_others_take);
    /**
     * Leaves a wish: someone wants a program, and a builder may compile it (doc/builders.md). The storage has just been
     * asked for @p id and lacks it, and it has been given the request from which a builder compiles it. Does not wait.
     * A wish is a hint, which may be lost. NULL: the storage keeps no wishes.
     *  @retval INGOT_BUSY      There is such a wish already, or somebody compiles the program.
     *  @retval INGOT_NO_SPACE  There are too many.
     *  @return Otherwise as store.
     */
    ingot_status_t (*leave_wish)(void *self, size_t id_size, const uint8_t *id);
} ingot_storage_ops_t;

/**
 * Creates a storage from @p ops (copied) and @p self, which it owns on success.
 *
 * In a child of fork, all storages of its parent are off, because the parent's threads may have been using them. Loads
 * return INGOT_NOT_FOUND, all else INGOT_READ_ONLY (but functions of ingot/remote.h INGOT_UNIMPLEMENTED), and a release
 * frees nothing. Nothing of the parent's changes.
 * ingot_persist_program_create compiles, or fails if the storage's policy is INGOT_PERSIST_ON_MISS_FAIL. The first
 * refusal by a storage there is reported by an INGOT_EVENT_STORAGE_DEGRADED with INGOT_READ_ONLY. Open other storages
 * there.
 *
 * @retval INGOT_INVALID_ARGUMENTS  Also if load is missing, or only one of take_lease and end_lease is set.
 * @retval INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_storage_create(ingot_storage_t *storage, const ingot_storage_ops_t *ops, void *self);
/** Adds a reference. Does nothing for NULL. */
INGOT_API void ingot_storage_retain(ingot_storage_t storage);
/** Drops a reference. Dropping the last one flushes as ingot_persist_flush does, and then destroys the storage. */
INGOT_API void ingot_storage_release(ingot_storage_t storage);

/** Loads a blob through the table, without its seal. The caller releases @p blob with its release function.
 *  Statuses as in ingot_storage_ops_t; INGOT_UNTRUSTED if the storage's policy refuses the blob (ingot/trust.h). */
INGOT_API ingot_status_t ingot_storage_load(ingot_storage_t storage, size_t id_size, const uint8_t *id,
                                            ingot_buffer_t *blob);
/** Stores a blob through the table. Statuses as in ingot_storage_ops_t; INGOT_READ_ONLY if the table has no store.
 *  A storage with a policy (ingot/trust.h) seals it, and returns INGOT_UNTRUSTED for a sealed blob that it refuses.
 *  @retval INGOT_INVALID_ARGUMENTS  Also for a blob that begins like a sealed one, if no policy applies: a load would
 *                                   return it without this beginning. ingot_persist_store_sealed stores sealed blobs.
 */
INGOT_API ingot_status_t ingot_storage_store(ingot_storage_t storage, size_t id_size, const uint8_t *id,
                                             size_t blob_size, const uint8_t *blob);
/** Removes a blob through the table. Statuses as in ingot_storage_ops_t; INGOT_READ_ONLY if the table has no remove. */
INGOT_API ingot_status_t ingot_storage_remove(ingot_storage_t storage, size_t id_size, const uint8_t *id);

#ifdef __cplusplus
}
#endif

#endif
