/* SPDX-License-Identifier: MIT */
/* Stable: the last three functions. Stable, advanced: all others. */
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

#include <ingot/cache.h>
#include <ingot/ingot.h>
#include <ingot/pending.h>

#ifdef __cplusplus
extern "C" {
#endif

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

/* ---- the front door (ingot/cache.h) ------------------------------------------------------------------------------ */

/**
 * Replaces clCreateProgramWithSource and clBuildProgram: returns a built program from the cache, or compiles it and
 * stores it. Exported by libingot-cache only.
 *
 * The program is the application's own, as after the driver's calls: the application releases it with clReleaseProgram,
 * and each call returns another program. After the call, Ingot holds neither the program nor @p context,
 * except on PoCL, where a flush stores a program that was compiled (ingot_cache_open). A loaded
 * program differs from a compiled one in these points: CL_PROGRAM_SOURCE is empty, CL_PROGRAM_BUILD_LOG may be empty,
 * and clBuildProgram builds it again from its binary.
 *
 * If several threads, processes or machines request the same program at once, one of them compiles it, and the others
 * load it. If the cache fails in any way, the driver's own calls make the program, and an event says why.
 *
 * @param      cache         NULL: no cache; calls the driver.
 * @param      device_count  0: all devices of @p context; @p devices is NULL then.
 * @param      source        OpenCL C.
 * @param      source_size   In bytes; 0: @p source ends with a NUL.
 * @param      options       As for clBuildProgram. NULL: none.
 * @param[out] program       Set for INGOT_SUCCESS and INGOT_BUILD_FAILED.
 * @param[out] origin        INGOT_ORIGIN_STORAGE or INGOT_ORIGIN_BUILD, set on success. May be NULL.
 * @par Threads  Any number at once.
 * @retval INGOT_BUILD_FAILED       The compiler refused the program. The application asks @p program for its build log,
 *                                  and releases it. The detail holds the log of the first device.
 * @retval INGOT_INVALID_ARGUMENTS  @p context, @p source or @p program is NULL, or only one of @p device_count and
 *                                  @p devices is given.
 * @retval INGOT_BUSY               With INGOT_CACHE_OPEN_LATER: the program is not there yet, and a wish was left.
 * @retval INGOT_UNIMPLEMENTED      There is no OpenCL loader (libOpenCL.so.1).
 * @retval INGOT_BACKEND_ERROR      Another failure of the driver; ingot_last_error_code() is its error.
 * @retval INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_cache_opencl_build(ingot_cache_t cache, cl_context context, cl_uint device_count,
                                                  const cl_device_id *devices, const char *source, size_t source_size,
                                                  const char *options, cl_program *program, ingot_origin_t *origin);

/**
 * Begins a program that is taken later (ingot/pending.h). The arguments are those of ingot_cache_opencl_build, and are
 * copied. Looks for the program, and leaves a wish for it if it is not there. Compiles nothing. Exported by
 * libingot-cache only.
 *
 * @param[out] pending  Holds a reference to @p context and the devices until it is ended. Set on success only.
 * @par Threads  Any number at once.
 * @retval INGOT_SUCCESS            Also for a program that only its take can compile; ingot_pending_poll says why.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_UNIMPLEMENTED  As ingot_cache_opencl_build.
 * @retval INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_cache_opencl_begin(ingot_cache_t cache, cl_context context, cl_uint device_count,
                                                  const cl_device_id *devices, const char *source, size_t source_size,
                                                  const char *options, ingot_pending_t *pending);

/**
 * Returns the program, as ingot_cache_opencl_build does, and ends @p pending, whatever the status. Exported by
 * libingot-cache only.
 *
 * While somebody else compiles it, the thread compiles other programs that were begun with the cache, and keeps them
 * for their takes. With INGOT_CACHE_OPEN_LATER, it compiles, too.
 *
 * @retval INGOT_INVALID_ARGUMENTS  @p pending is NULL or of another backend, or @p program is NULL. Nothing is ended.
 * @return Otherwise as ingot_cache_opencl_build, except INGOT_BUSY.
 */
INGOT_API ingot_status_t ingot_cache_opencl_take(ingot_pending_t pending, cl_program *program, ingot_origin_t *origin);

#ifdef __cplusplus
}
#endif

#endif
