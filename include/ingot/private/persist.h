/* SPDX-License-Identifier: MIT */
/* Private: not installed. Only Ingot's own libraries, layers, tool and tests use it. */
/**
 * @file private/persist.h
 * Requests that stop short of a build, stores that try out what they keep, and what belongs to a storage.
 */
#ifndef INGOT_PRIVATE_PERSIST_H
#define INGOT_PRIVATE_PERSIST_H

#include <ingot/persist.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Does what ingot_persist_program_create does, but never compiles: if neither the memory nor the storage has the
 * program, the caller makes it in another way, and nothing is stored or recorded.
 *
 * @retval INGOT_NOT_FOUND  The storage lacks the program, or does not serve it. If its policy is
 *                          INGOT_PERSIST_ON_MISS_FAIL, the caller must not make the program either.
 */
INGOT_API ingot_status_t ingot_persist_program_load(ingot_program_t *program, const_ingot_program_desc_t desc,
                                                    ingot_storage_t storage, ingot_origin_t *origin);

/**
 * Does what ingot_persist_program_create does, but does not wait for others.
 *
 * @retval INGOT_BUSY  Another thread, process or machine compiles the program now, or one has found within the last
 *                     minute that it does not compile or cannot be stored. This call has compiled nothing.
 */
INGOT_API ingot_status_t ingot_persist_program_try(ingot_program_t *program, const_ingot_program_desc_t desc,
                                                   ingot_storage_t storage, ingot_origin_t *origin);

/** Returns when a storage stores; for a chain without a setting of its own, the setting of the tier in which it
 *  stores. */
INGOT_API ingot_persist_store_mode_t ingot_persist_get_store_mode(ingot_storage_t storage);

/**
 * Tells a storage with INGOT_PERSIST_STORE_NOW that this process only builds. It creates a program from each blob
 * before it stores it: PoCL ends a process that loads a damaged binary, so such a binary ends the process that has made
 * it, and no store gets it. Nothing is launched, so no program is stored once more.
 */
INGOT_API void ingot_persist_set_builder(ingot_storage_t storage);

/** Stores this program if it waits for a flush. Does nothing otherwise, for NULL, or in a forked child. An event
 * reports a failure, and the error detail stays. */
INGOT_API void ingot_persist_flush_program(ingot_storage_t storage, const_ingot_program_t program);

/** No flush that begins later stores this program, and the storage drops its reference. Does nothing if the program
 * does not wait, for NULL, or in a forked child. */
INGOT_API void ingot_persist_forget_program(ingot_storage_t storage, const_ingot_program_t program);

/**
 * Finds the last eviction of an id's entry in any namespace of a directory store, which remembers the last 4,095.
 *
 * @param[out] time_ns  Since 1970-01-01 00:00 UTC.
 * @retval INGOT_NOT_FOUND      It is not among them.
 * @retval INGOT_UNIMPLEMENTED  The storage is not a directory store.
 * @return Otherwise as ingot_persist_for_each.
 */
INGOT_API ingot_status_t ingot_persist_find_evicted(ingot_storage_t storage, size_t id_size, const uint8_t *id,
                                                    uint64_t *time_ns);

/**
 * Finds what the operations of a storage get as their first argument.
 *
 * @param[in]  destroy  The storage's operation of this name, which tells whose storage it is.
 * @param[out] self     Valid as long as the storage.
 * @retval INGOT_UNIMPLEMENTED      Its operation is another one, or this process was forked from the one that created
 * it.
 */
INGOT_API ingot_status_t ingot_storage_get_self(ingot_storage_t storage, void (*destroy)(void *self), void **self);

#ifdef __cplusplus
}
#endif

#endif
