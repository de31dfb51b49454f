/* SPDX-License-Identifier: MIT */
/* Stable: the last three functions. Stable, advanced: all others. */
/**
 * @file level_zero.h
 * Creates contexts for the application's own Level Zero driver, context and devices, and returns native handles.
 * Library ingot::level_zero.
 *
 * Sources: INGOT_SOURCE_SPIRV. Several modules are linked into one program with ZE_experimental_module_program if the
 * driver has it, otherwise with zeModuleDynamicLink. Level Zero has only one kind of build flags: each module gets the
 * compile options and then the link options. Headers are part of the id but have no effect, because SPIR-V cannot
 * include them.
 */
#ifndef INGOT_LEVEL_ZERO_H
#define INGOT_LEVEL_ZERO_H

#include <level_zero/ze_api.h>

#include <ingot/cache.h>
#include <ingot/ingot.h>
#include <ingot/pending.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Creates a context for @p ze_context, which must live until the last object of the new context is released, because
 * Level Zero does not count references. A later Level Zero context at the same address shares nothing with it.
 *
 * @param[out] context       The new context; its device indices follow @p devices.
 * @param[in]  driver        The driver of @p ze_context and @p devices.
 * @param[in]  ze_context    A valid context.
 * @param[in]  device_count  0: all devices of @p driver, in its order.
 * @param[in]  devices       Devices and sub-devices, each once.
 * @param[in]  info          NULL: defaults.
 * @retval INGOT_INVALID_ARGUMENTS  A device is given twice or is NULL.
 * @retval INGOT_UNIMPLEMENTED      A device does not support SPIR-V.
 * @retval INGOT_BACKEND_ERROR, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_level_zero_context_create(ingot_context_t *context, ze_driver_handle_t driver,
                                                         ze_context_handle_t ze_context, uint32_t device_count,
                                                         const ze_device_handle_t *devices,
                                                         const ingot_context_info_t *info);

/**
 * Returns the native module for one of the program's devices. If the program was linked dynamically, this is the module
 * of its first source. It is borrowed: valid as long as @p program is held.
 *
 * @retval INGOT_INVALID_ARGUMENTS  @p program belongs to another backend or was not made for the device.
 */
INGOT_API ingot_status_t ingot_level_zero_program_get_native(const_ingot_program_t program, uint32_t device_index,
                                                             ze_module_handle_t *native);

/**
 * Returns the native kernel. It is borrowed: valid as long as @p kernel is held. It is shared: see ingot_kernel_lock.
 *
 * @retval INGOT_INVALID_ARGUMENTS  @p kernel belongs to another backend.
 */
INGOT_API ingot_status_t ingot_level_zero_kernel_get_native(const_ingot_kernel_t kernel, ze_kernel_handle_t *native);

/* ---- the front door (ingot/cache.h) ------------------------------------------------------------------------------ */

/**
 * Replaces zeModuleCreate: returns a module from the cache, or compiles it and stores it. Exported by libingot-cache
 * only.
 *
 * The module is the application's own, as after zeModuleCreate: the application destroys it, and each call returns
 * another module. After the call, Ingot uses neither the module nor @p context. Modules of other formats than SPIR-V,
 * and those with specialization constants or an extension (pNext), are not cached: zeModuleCreate makes them.
 *
 * If several threads, processes or machines request the same module at once, one of them compiles it, and the others
 * load it. If the cache fails in any way, zeModuleCreate makes the module, and an event says why.
 *
 * @param      cache   NULL: no cache; calls zeModuleCreate.
 * @param[out] module  Set on success only.
 * @param[out] log     As for zeModuleCreate: set for INGOT_SUCCESS and for refusals of the driver; the application
 *                     destroys it. The log of a loaded module is that of its load. NULL if Ingot refuses bytes that are
 *                     not SPIR-V, before the driver ends the process over them. May be NULL.
 * @param[out] origin  INGOT_ORIGIN_STORAGE or INGOT_ORIGIN_BUILD, set on success. May be NULL.
 * @par Threads  Any number at once.
 * @retval INGOT_BUILD_FAILED       The compiler refused the module.
 * @retval INGOT_BUSY               With INGOT_CACHE_OPEN_LATER: the module is not there yet, and a wish was left.
 * @retval INGOT_INVALID_ARGUMENTS  @p context, @p device, @p desc or @p module is NULL.
 * @retval INGOT_BACKEND_ERROR      Another failure of the driver; ingot_last_error_code() is its result.
 * @retval INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_cache_level_zero_create(ingot_cache_t cache, ze_context_handle_t context,
                                                       ze_device_handle_t device, const ze_module_desc_t *desc,
                                                       ze_module_handle_t *module, ze_module_build_log_handle_t *log,
                                                       ingot_origin_t *origin);

/**
 * Begins a module that is taken later (ingot/pending.h). The arguments are those of ingot_cache_level_zero_create, and
 * @p desc is copied with all that it points to. Looks for the module, and leaves a wish for it if it is not there.
 * Compiles nothing. Exported by libingot-cache only.
 *
 * @param      context  Must not be destroyed before @p pending is ended.
 * @param[out] pending  Set on success only.
 * @par Threads  Any number at once.
 * @retval INGOT_SUCCESS            Also for a module that only its take can make; ingot_pending_poll says why.
 * @retval INGOT_INVALID_ARGUMENTS  An argument is NULL.
 * @retval INGOT_UNIMPLEMENTED      @p desc has specialization constants or an extension (pNext), which cannot be
 *                                  copied. Call ingot_cache_level_zero_create.
 * @retval INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_cache_level_zero_begin(ingot_cache_t cache, ze_context_handle_t context,
                                                      ze_device_handle_t device, const ze_module_desc_t *desc,
                                                      ingot_pending_t *pending);

/**
 * Returns the module, as ingot_cache_level_zero_create does, and ends @p pending, whatever the status. Exported by
 * libingot-cache only.
 *
 * While somebody else compiles it, the thread compiles other modules that were begun with the cache, and keeps them
 * for their takes. With INGOT_CACHE_OPEN_LATER, it compiles, too.
 *
 * @retval INGOT_INVALID_ARGUMENTS  @p pending is NULL or of another backend, or @p module is NULL. Nothing is ended.
 * @return Otherwise as ingot_cache_level_zero_create, except INGOT_BUSY.
 */
INGOT_API ingot_status_t ingot_cache_level_zero_take(ingot_pending_t pending, ze_module_handle_t *module,
                                                     ze_module_build_log_handle_t *log, ingot_origin_t *origin);

#ifdef __cplusplus
}
#endif

#endif
