/* SPDX-License-Identifier: MIT */
/**
 * @file opencl.h
 * Creates contexts for the application's own OpenCL context and devices, and returns native handles. Library
 * ingot::opencl.
 *
 * Sources: INGOT_SOURCE_OPENCL_C, and INGOT_SOURCE_SPIRV if the devices support it (clCreateProgramWithIL).
 */
#ifndef INGOT_OPENCL_H
#define INGOT_OPENCL_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#include <CL/cl.h>

#include <ingot/ingot.h>

#ifdef __cplusplus
extern "C" {
#endif

struct _cl_icd_dispatch;  /* cl_icd_dispatch of CL/cl_icd.h */
struct ingot_backend_ops; /* ingot_backend_ops_t of ingot/backend.h */

/**
 * Creates a context for @p cl_context, which Ingot retains until the last object of the new context is released.
 *
 * @param[out] context       The new context; its device indices follow @p devices.
 * @param[in]  cl_context    A valid context.
 * @param[in]  device_count  0: all devices of @p cl_context, in its order.
 * @param[in]  devices       Devices and sub-devices of @p cl_context, each once. PoCL's contexts list the parent in
 *                           place of a sub-device; both are accepted.
 * @param[in]  info          NULL: defaults.
 * @retval INGOT_INVALID_ARGUMENTS  A device does not belong to @p cl_context or is given twice, or @p cl_context is not
 *                                  a context.
 * @retval INGOT_BACKEND_ERROR, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_opencl_context_create(ingot_context_t *context, cl_context cl_context,
                                                     uint32_t device_count, const cl_device_id *devices,
                                                     const ingot_context_info_t *info);

/**
 * Creates a context as ingot_opencl_context_create does, but calls only @p functions, and never the loader. For code
 * between an application and the driver, such as a layer, which would otherwise call itself.
 *
 * @param[in] functions  The table of CL/cl_icd.h. It must stay valid until the last object of the context is released.
 *                       The functions of OpenCL 2.1 and later may be NULL; calls that need them then return
 *                       INGOT_UNIMPLEMENTED.
 * @retval INGOT_INVALID_ARGUMENTS  Also if @p functions lacks a function of OpenCL 1.2 that Ingot calls.
 * Other statuses as ingot_opencl_context_create.
 */
INGOT_API ingot_status_t ingot_opencl_context_create_with(ingot_context_t *context,
                                                          const struct _cl_icd_dispatch *functions,
                                                          cl_context cl_context, uint32_t device_count,
                                                          const cl_device_id *devices,
                                                          const ingot_context_info_t *info);

/**
 * Returns the operations of this backend, for a custom backend that wraps it. ingot_context_get_backend_state with this
 * table returns the state to pass to them, which lives as long as its context. The table never changes.
 */
INGOT_API const struct ingot_backend_ops *ingot_opencl_get_backend_ops(void);

/**
 * Returns the native program. It is borrowed: valid as long as @p program is held. clRetainProgram keeps it longer.
 *
 * @retval INGOT_INVALID_ARGUMENTS  @p program belongs to another backend.
 */
INGOT_API ingot_status_t ingot_opencl_program_get_native(const_ingot_program_t program, cl_program *native);

/**
 * Returns the native kernel. It is borrowed: valid as long as @p kernel is held. It is shared: see ingot_kernel_lock.
 *
 * @retval INGOT_INVALID_ARGUMENTS  @p kernel belongs to another backend.
 */
INGOT_API ingot_status_t ingot_opencl_kernel_get_native(const_ingot_kernel_t kernel, cl_kernel *native);

#ifdef __cplusplus
}
#endif

#endif
