/* SPDX-License-Identifier: MIT */
/* Private: not installed. Only Ingot's own libraries, layers, tool and tests use it. */
/**
 * @file private/opencl.h
 * Contexts for code between an application and its OpenCL driver.
 */
#ifndef INGOT_PRIVATE_OPENCL_H
#define INGOT_PRIVATE_OPENCL_H

#include <ingot/opencl.h>

#ifdef __cplusplus
extern "C" {
#endif

struct _cl_icd_dispatch; /* cl_icd_dispatch of CL/cl_icd.h */

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

#ifdef __cplusplus
}
#endif

#endif
