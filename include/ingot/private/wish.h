/* SPDX-License-Identifier: MIT */
/* Private: not installed. Only Ingot's own libraries, layers, tool and tests use it. */
/**
 * @file private/wish.h
 * Wishes: ids of programs that someone wants, and that a builder compiles from the requests in the same store
 * (doc/builders.md).
 */
#ifndef INGOT_PRIVATE_WISH_H
#define INGOT_PRIVATE_WISH_H

#include <stdbool.h>

#include <ingot/persist.h>

#ifdef __cplusplus
extern "C" {
#endif

#define INGOT_WISH_MAX_SIZE 65536 /**< The most bytes of a wish, which is an id. */

/** Receives a wish. The bytes are valid during the call. Returns false to end the visit. */
typedef bool (*ingot_wish_visitor_t)(void *user, size_t id_size, const uint8_t *id);

/**
 * Visits the wishes of a directory store's namespace, in no order, and removes those that are malformed or too old.
 * During a visit, the visitor may take wishes.
 *
 * @retval INGOT_SUCCESS        Also if there are none.
 * @retval INGOT_UNIMPLEMENTED  The storage is not a directory store.
 * @retval INGOT_READ_ONLY      It was opened read-only.
 * @retval INGOT_UNTRUSTED, INGOT_IO_ERROR, INGOT_OUT_OF_MEMORY, INGOT_INVALID_ARGUMENTS
 */
INGOT_API ingot_status_t ingot_persist_visit_wishes(ingot_storage_t storage, ingot_wish_visitor_t visit, void *user);

/**
 * Removes a wish. Of several callers, one gets INGOT_SUCCESS, and should answer it.
 *
 * @retval INGOT_NOT_FOUND  It is gone.
 * @return Otherwise as ingot_persist_visit_wishes.
 */
INGOT_API ingot_status_t ingot_persist_take_wish(ingot_storage_t storage, size_t id_size, const uint8_t *id);

/**
 * Leaves a wish that was taken again, for another builder. It counts as new.
 *
 * @retval INGOT_NO_SPACE  There are too many.
 * @return Otherwise as ingot_persist_visit_wishes.
 */
INGOT_API ingot_status_t ingot_persist_leave_wish(ingot_storage_t storage, size_t id_size, const uint8_t *id);

/**
 * Makes the folder of a directory store's wishes if it is missing, and writes its absolute path. A new wish is renamed
 * into it (IN_MOVED_TO).
 *
 * @retval INGOT_BUFFER_TOO_SMALL
 * @return Otherwise as ingot_persist_visit_wishes.
 */
INGOT_API ingot_status_t ingot_persist_get_wish_folder(ingot_storage_t storage, size_t capacity, char *path);

/** What a process has to do with the builders of a directory store's namespace on its machine. */
typedef enum ingot_builder_role {
    INGOT_ROLE_USER,   /**< An application that may start builders. Any number at once. */
    INGOT_ROLE_BUILDER /**< The builder that was started for the users. One at a time. */
} ingot_builder_role_t;

/** A role that a process has, until it leaves it or ends. A child of fork does not have it. */
struct ingot_held_role;

/**
 * Takes a role in the store's namespace.
 *
 * @param[out] held  For ingot_persist_leave_role. Leave it before the storage is released. Set on success only.
 * @retval INGOT_SUCCESS
 * @retval INGOT_BUSY           Another process is the builder.
 * @retval INGOT_UNIMPLEMENTED  The storage is not a directory store that can be written, or has no build locks.
 * @retval INGOT_READ_ONLY, INGOT_INVALID_ARGUMENTS
 */
INGOT_API ingot_status_t ingot_persist_take_role(ingot_storage_t storage, ingot_builder_role_t role,
                                                 struct ingot_held_role **held);
INGOT_API void ingot_persist_leave_role(struct ingot_held_role *held); /**< Does nothing for NULL. */
/** True if a process has the role, this one included. */
INGOT_API bool ingot_persist_has_role(ingot_storage_t storage, ingot_builder_role_t role);

/**
 * Writes the id of the entry with the request for a wanted result. ingot_storage_load loads it, and
 * ingot_request_open reads it (private/request.h).
 *
 * @param[in,out] request_id_size  In: the capacity of @p request_id; 512 is enough. Out: the id's size.
 * @retval INGOT_BLOB_CORRUPT  The bytes are not the id of a program. Likewise INGOT_BLOB_TRUNCATED,
 *                             INGOT_BLOB_VERSION.
 * @retval INGOT_BUFFER_TOO_SMALL, INGOT_INVALID_ARGUMENTS, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_wish_get_request_id(size_t id_size, const uint8_t *id, size_t *request_id_size,
                                                   uint8_t *request_id);

#ifdef __cplusplus
}
#endif

#endif
