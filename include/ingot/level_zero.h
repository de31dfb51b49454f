/* SPDX-License-Identifier: MIT */
/**
 * @file level_zero.h
 * Contexts over the application's own Level Zero driver, context and devices, and native handles back. Library
 * ingot::level_zero.
 *
 * Sources: INGOT_SOURCE_SPIRV. Several modules are linked into one program by ZE_experimental_module_program where the
 * driver has it, else by zeModuleDynamicLink. Level Zero has one kind of build flags: compile options and link options
 * are given to each module, in this order. Headers are part of the id and change nothing, for SPIR-V includes nothing.
 */
#ifndef INGOT_LEVEL_ZERO_H
#define INGOT_LEVEL_ZERO_H

#include <level_zero/ze_api.h>

#include <ingot/ingot.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Makes a context over @p ze_context, which must live until the last object of the new context is released: Level Zero
 * does not count references. A Level Zero context that comes later at the same address has nothing in common with it.
 *
 * @param[out] context       The new context; its device indices follow @p devices.
 * @param[in]  driver        What @p ze_context and @p devices are of.
 * @param[in]  ze_context    A valid context.
 * @param[in]  device_count  0: all devices of @p driver, in its order.
 * @param[in]  devices       Each once; sub-devices too.
 * @param[in]  info          NULL: defaults.
 * @retval INGOT_INVALID_ARGUMENTS  A device is given twice or is NULL.
 * @retval INGOT_UNIMPLEMENTED      A device takes no SPIR-V.
 * @retval INGOT_BACKEND_ERROR, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_level_zero_context_create(ingot_context_t *context, ze_driver_handle_t driver,
                                                         ze_context_handle_t ze_context, uint32_t device_count,
                                                         const ze_device_handle_t *devices,
                                                         const ingot_context_info_t *info);

/**
 * The native module of one of the program's devices; of a program that was linked dynamically, its first source's.
 * Borrowed: valid as long as @p program is held.
 *
 * @retval INGOT_INVALID_ARGUMENTS  @p program is of another backend, or not made for the device.
 */
INGOT_API ingot_status_t ingot_level_zero_program_get_native(const_ingot_program_t program, uint32_t device_index,
                                                             ze_module_handle_t *native);

/** The native kernel. Borrowed likewise. Shared: see ingot_kernel_lock.
 *  @retval INGOT_INVALID_ARGUMENTS  @p kernel is of another backend. */
INGOT_API ingot_status_t ingot_level_zero_kernel_get_native(const_ingot_kernel_t kernel, ze_kernel_handle_t *native);

#ifdef __cplusplus
}
#endif

#endif
