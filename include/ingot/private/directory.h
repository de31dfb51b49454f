/* SPDX-License-Identifier: MIT */
/* Private: not installed. Only Ingot's own libraries, layers, tool and tests use it. */
/**
 * @file private/directory.h
 * Inspects and maintains a directory store: lists, verifies and removes its entries, and writes bundles.
 *
 * These functions work on the namespace that the store was opened with, or on all namespaces if it was opened without
 * one. They may run at the same time as any other function. Entries that appear or disappear in the meantime may or may
 * not be seen. Killing a process during any of them does no harm. INGOT_UNIMPLEMENTED means that the storage is not a
 * directory store and, where a function also accepts a bundle, not a bundle either.
 */
#ifndef INGOT_PRIVATE_DIRECTORY_H
#define INGOT_PRIVATE_DIRECTORY_H

#include <ingot/persist.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A store entry, as read from its files. Pointers are valid only during the callback. */
typedef struct ingot_persist_entry {
    const char *name_space; /**< "" without a namespace. */
    char place[34]; /**< The entry's directory in the store or its namespace: 2 hexadecimal digits, "/", and 30 more;
                     *   the hash of the id. */
    /** INGOT_SUCCESS; INGOT_BLOB_TRUNCATED or INGOT_BLOB_CORRUPT for a bad entry; INGOT_BLOB_VERSION for another
     * format; INGOT_UNTRUSTED; INGOT_IO_ERROR or INGOT_OUT_OF_MEMORY for an entry that could not be read. */
    ingot_status_t status;
    const char *reason;   /**< "" with INGOT_SUCCESS. */
    uint64_t identity;    /**< Changes when another entry replaces this one. */
    uint64_t bytes;       /**< What the file system has allocated for its files. */
    size_t blob_size;     /**< Size of the blob. This and all fields below are 0 or NULL if the header is damaged. */
    uint64_t created_ns;  /**< Since 1970-01-01 00:00 UTC. */
    uint64_t last_use_ns; /**< created_ns if no use was noted. */
    size_t id_size;
    const uint8_t *id;
} ingot_persist_entry_t;

/** Visits an entry. Returns INGOT_SUCCESS to continue. Any other status stops the visit and is returned to the caller
 *  of the visiting function. */
typedef ingot_status_t (*ingot_persist_visit_t)(const ingot_persist_entry_t *entry, void *user);
/** Selects entries. Returns nonzero for an entry to include. */
typedef int (*ingot_persist_select_t)(const ingot_persist_entry_t *entry, void *user);

/**
 * Calls @p visit for each entry of a store or a bundle, ordered by place. Does not read blobs or check
 * seals, so do not trust ids, sizes and times in a store that other users may write.
 *
 * The callback may load, remove and store.
 * @return INGOT_SUCCESS, or the status with which the callback stopped the visit.
 * @retval INGOT_IO_ERROR  The store, or a part of it, could not be listed; the rest was visited.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_UNIMPLEMENTED, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_persist_for_each(ingot_storage_t storage, ingot_persist_visit_t visit, void *user);

/** Loads and verifies the blob of exactly this entry, without counting a hit or noting a use.
 *  @param with_seal  0: returns the blob without its seal. Otherwise with it, if it has one, so that
 *                    ingot_persist_store_sealed can copy it into another storage.
 *  @retval INGOT_NOT_FOUND  The entry is gone or was replaced.
 *  @retval INGOT_UNTRUSTED  Also if the storage's policy refuses the blob's seal. Other statuses as in the entry's
 *                           field status. */
INGOT_API ingot_status_t ingot_persist_load_entry(ingot_storage_t storage, const ingot_persist_entry_t *entry,
                                                  int with_seal, ingot_buffer_t *blob);
/** Removes exactly this entry. @retval INGOT_NOT_FOUND  The entry is gone or was replaced. Other statuses as
 *  ingot_storage_remove. */
INGOT_API ingot_status_t ingot_persist_remove_entry(ingot_storage_t storage, const ingot_persist_entry_t *entry);

/** The result of a verification. */
typedef struct ingot_persist_verification {
    uint64_t entry_count; /**< Entries to verify. */
    uint64_t done_count;  /**< Verified entries; fewer than entry_count if the callback stopped the verification. */
    uint64_t done_bytes;
    uint64_t bad_count;      /**< Truncated or corrupt. */
    uint64_t removed_count;  /**< Bad entries that were removed. */
    uint64_t foreign_count;  /**< Entries of another format version, or not trusted (also because of a seal); left as
                              *   they are. */
    uint64_t unread_count;   /**< Entries that could not be read: the operating system failed, or memory ran out. */
    uint64_t leftover_count; /**< Leftovers of killed processes, over an hour old; repair removes them. */
    uint64_t leftover_bytes; /**< Size of the leftover files. */
} ingot_persist_verification_t;

/** Receives progress after each entry. The status of @p entry is the result of verifying all of its content. Returns
 *  INGOT_SUCCESS to continue. Any other status stops the verification and is returned by it. */
typedef ingot_status_t (*ingot_persist_progress_t)(const ingot_persist_verification_t *so_far,
                                                   const ingot_persist_entry_t *entry, void *user);

/**
 * Reads every entry. Verifies all checksums, checks that the entry's place matches its id, and checks the blob's seal
 * by the storage's policy. An entry whose seal is refused has the status INGOT_UNTRUSTED.
 *
 * @param repair    Not 0: removes bad entries and leftovers of killed processes, and corrects size.txt.
 * @param progress  NULL: none.
 * @param[out] found  Also set if the callback stops the verification.
 * @return INGOT_SUCCESS, or the status with which the callback stopped the verification.
 * @retval INGOT_READ_ONLY      Repair was requested, but the store was opened read-only or is a bundle.
 * @retval INGOT_UNIMPLEMENTED  Neither a directory store nor a bundle.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_IO_ERROR, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_persist_verify(ingot_storage_t storage, int repair, ingot_persist_progress_t progress,
                                              void *user, ingot_persist_verification_t *found);

/** The result of a recount. */
typedef struct ingot_persist_count {
    uint64_t entry_count;
    uint64_t counted_bytes;
    uint64_t recorded_bytes; /**< The previous value of size.txt. */
    int is_recorded;         /**< 0: size.txt was missing or had no valid value. */
} ingot_persist_count_t;

/** Counts the store's entries, and corrects size.txt. In a read-only store, only counts. If the store has no namespace,
 *  leaves out namespaces that this user may not read. Statuses as ingot_persist_evict. */
INGOT_API ingot_status_t ingot_persist_recount(ingot_storage_t storage, ingot_persist_count_t *count);

/**
 * Writes the valid entries of a directory store or a bundle to a new bundle, which then replaces any file at @p path.
 * Blobs keep their seals. If the storage has a policy (ingot/trust.h), entries that the policy refuses are left out.
 *
 * Threads and processes may use the store at the same time. If several entries have the same id (in several
 * namespaces), only the newest is written.
 *
 * @param select            Returns nonzero for the entries to include. NULL: all.
 * @param[out] entry_count  The number of entries in the bundle. May be NULL.
 * @retval INGOT_BUSY       Another process is writing the same bundle.
 * @retval INGOT_NOT_FOUND  The bundle's directory is missing.
 * @retval INGOT_INVALID_ARGUMENTS  The path is empty or too long.
 * @retval INGOT_UNIMPLEMENTED, INGOT_READ_ONLY, INGOT_NO_SPACE, INGOT_IO_ERROR, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_persist_write_bundle(ingot_storage_t storage, const char *path,
                                                    ingot_persist_select_t select, void *user, uint64_t *entry_count);

#ifdef __cplusplus
}
#endif

#endif
