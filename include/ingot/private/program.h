/* SPDX-License-Identifier: MIT */
/* Private: not installed. Only Ingot's own libraries, layers, tool and tests use it. */
/**
 * @file private/program.h
 * Makes programs for storages, which load before they build, and returns what descriptors and contexts consist of.
 */
#ifndef INGOT_PRIVATE_PROGRAM_H
#define INGOT_PRIVATE_PROGRAM_H

#include <ingot/backend.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Creates the program of @p desc for ingot_program_get_or_create. Typically it calls ingot_program_load with a blob,
 * and ingot_program_build if that fails. Called with no lock held. It may request other programs. Requesting the same
 * program through the cache is INGOT_DEADLOCK.
 */
typedef ingot_status_t (*ingot_program_builder_t)(ingot_program_t *program, const_ingot_program_desc_t desc,
                                                  void *user);

/**
 * Works like ingot_program_get, but creates the program with a custom builder. Only one builder runs per program,
 * however many threads ask. If it returns INGOT_BUILD_FAILED, every waiting thread gets this status and its detail. If
 * it returns INGOT_OUT_OF_MEMORY, the cache is emptied and the builder is called once more; if that fails too, every
 * waiting thread gets the status. After any other failure, one waiting thread retries once, with its own builder.
 *
 * @retval INGOT_DEADLOCK           As for ingot_program_get.
 * @retval INGOT_INVALID_ARGUMENTS  Also if the builder returned a program of another descriptor.
 * @return Otherwise the status of the builder.
 */
INGOT_API ingot_status_t ingot_program_get_or_create(ingot_program_t *program, const_ingot_program_desc_t desc,
                                                     ingot_program_builder_t builder, void *user);

/** Compiles a program and bypasses the in-memory cache. Statuses as ingot_program_get. */
INGOT_API ingot_status_t ingot_program_build(ingot_program_t *program, const_ingot_program_desc_t desc);

/** Creates a program from a blob and bypasses the in-memory cache. Statuses as ingot_program_create_from_cache_blob. */
INGOT_API ingot_status_t ingot_program_load(ingot_program_t *program, const_ingot_program_desc_t desc, size_t size,
                                            const uint8_t *cache_blob);

/** Does what ingot_program_load does, but makes only the native program, which the caller destroys by the operation of
 *  the backend. */
INGOT_API ingot_status_t ingot_program_load_native(void **native, const_ingot_program_desc_t desc, size_t size,
                                                   const uint8_t *cache_blob);

/**
 * Drops this program from memory, so that the next request creates it again. Existing references stay valid. For a
 * program that turned out to be useless, for example because the driver rejects its kernels.
 *
 * @retval INGOT_NOT_FOUND  It is not in memory. A program that replaced it stays.
 */
INGOT_API ingot_status_t ingot_program_forget(ingot_program_t program);

/** Returns the context that the descriptor was created with; borrowed. NULL for NULL. */
INGOT_API ingot_context_t ingot_program_desc_get_context(const_ingot_program_desc_t desc);

/**
 * Returns INGOT_SUCCESS if the program can have an id, and INGOT_NOT_CACHEABLE, with the error detail, if it cannot.
 * Asks no device for its identity.
 *
 * @param[out] reason  Why the program is not cacheable, or "" on success. Valid as long as the descriptor. May be NULL.
 */
INGOT_API ingot_status_t ingot_program_desc_is_cacheable(const_ingot_program_desc_t desc, const char **reason);

/** Returns the backend's name: "opencl", "level_zero", "cuda" or a custom one. Valid as long as the context. Never
 *  returns NULL; for a NULL context, returns "". */
INGOT_API const char *ingot_context_get_backend_name(const_ingot_context_t context);

/** Returns the backend's state if the context has these operations (compared by ops->build), otherwise NULL. */
INGOT_API void *ingot_context_get_backend_state(const_ingot_context_t context, const ingot_backend_ops_t *ops);

/** Adds a reference of the application's; does nothing for NULL. ingot_context_release drops it. */
INGOT_API void ingot_context_retain(ingot_context_t context);
/** Adds a reference; does nothing for NULL. */
INGOT_API void ingot_source_retain(ingot_source_t source);
/** Adds a reference; does nothing for NULL. */
INGOT_API void ingot_program_desc_retain(ingot_program_desc_t desc);
/** Adds a reference; does nothing for NULL. */
INGOT_API void ingot_program_retain(ingot_program_t program);

/**
 * Returns a device's properties.
 *
 * @param[in]     device_index  Below the number of devices that the context was created with.
 * @param[in,out] info          The caller sets struct_size.
 * @retval INGOT_INVALID_ARGUMENTS
 * @return Otherwise the status of the backend's get_device_info.
 */
INGOT_API ingot_status_t ingot_context_get_device_info(const_ingot_context_t context, uint32_t device_index,
                                                       ingot_device_info_t *info);

#ifdef __cplusplus
}
#endif

#endif
