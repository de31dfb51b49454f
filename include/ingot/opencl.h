/* SPDX-License-Identifier: MIT */
/**
 * @file opencl.h
 * Contexts over the application's own OpenCL context and devices, and native handles back. Library ingot::opencl.
 *
 * Sources: INGOT_SOURCE_OPENCL_C, and INGOT_SOURCE_SPIRV where the device takes it (clCreateProgramWithIL).
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

/**
 * Makes a context over @p cl_context, which is retained until the last object of the context is released.
 *
 * @param[out] context       The new context; its device indices follow @p devices.
 * @param[in]  cl_context    A valid context.
 * @param[in]  device_count  0: all devices of @p cl_context, in its order.
 * @param[in]  devices       Of @p cl_context, each once; sub-devices too. PoCL counts those of one device as one.
 * @param[in]  info          NULL: defaults.
 * @retval INGOT_INVALID_ARGUMENTS  A device is not of @p cl_context, or is given twice; @p cl_context is none.
 * @retval INGOT_BACKEND_ERROR, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_opencl_context_create(ingot_context_t *context, cl_context cl_context,
                                                     uint32_t device_count, const cl_device_id *devices,
                                                     const ingot_context_info_t *info);

/** The native program. Borrowed: valid as long as @p program is held; clRetainProgram to keep it longer.
 *  @retval INGOT_INVALID_ARGUMENTS  @p program is of another backend. */
INGOT_API ingot_status_t ingot_opencl_program_get_native(const_ingot_program_t program, cl_program *native);

/** The native kernel. Borrowed likewise. Shared: see ingot_kernel_lock. */
INGOT_API ingot_status_t ingot_opencl_kernel_get_native(const_ingot_kernel_t kernel, cl_kernel *native);

#ifdef __cplusplus
}
#endif

#endif
