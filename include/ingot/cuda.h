/* SPDX-License-Identifier: MIT */
/**
 * @file cuda.h
 * Contexts over the application's own CUDA contexts (driver API), and native handles back. Library ingot::cuda.
 *
 * Sources: INGOT_SOURCE_CUDA_CPP, compiled by NVRTC to machine code for the device, and INGOT_SOURCE_PTX. Several are
 * linked into one program by nvJitLink, which also translates PTX. Compile options go to NVRTC, link options to
 * nvJitLink; a program of PTX alone gives nvJitLink both. They are split at blanks; quotes and backslashes are taken
 * off as a shell does. Unless an option names another (--gpu-architecture=sm_90a), the architecture is the device's.
 *
 * Name expressions are resolved in the first source of CUDA C++. Kernels are then found by expression and by lowered
 * name.
 *
 * Nothing here is linked with CUDA: libcuda.so.1 is opened when a context is made, libnvrtc and libnvJitLink (of the
 * driver's major version or an older one, from 12 on) when a program is built or an id is asked for. They stay open.
 */
#ifndef INGOT_CUDA_H
#define INGOT_CUDA_H

#include <cuda.h>

#include <ingot/ingot.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Makes a context over CUDA contexts, each of which is a device of it. CUDA counts no references: they must live until
 * the last object of the new context is released. Contexts of equal GPUs share binaries, and so do several of one GPU.
 *
 * Whatever context is current in a thread that calls Ingot is so again when the call returns.
 *
 * @param[out] context        The new context; its device indices follow @p cuda_contexts.
 * @param[in]  context_count  At least 1.
 * @param[in]  cuda_contexts  Each once, from cuCtxCreate or cuDevicePrimaryCtxRetain.
 * @param[in]  info           NULL: defaults.
 * @retval INGOT_INVALID_ARGUMENTS  A CUDA context is given twice or is NULL, or there is none.
 * @retval INGOT_UNIMPLEMENTED      There is no CUDA driver (libcuda.so.1), or it is older than CUDA 12.
 * @retval INGOT_BACKEND_ERROR, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_cuda_context_create(ingot_context_t *context, uint32_t context_count,
                                                   const CUcontext *cuda_contexts, const ingot_context_info_t *info);

/**
 * The native module of one of the program's devices. Borrowed: valid as long as @p program is held.
 *
 * @retval INGOT_INVALID_ARGUMENTS  @p program is of another backend, or not made for the device.
 */
INGOT_API ingot_status_t ingot_cuda_program_get_native(const_ingot_program_t program, uint32_t device_index,
                                                       CUmodule *native);

/**
 * The lowered name of one of the program's name expressions, e.g. of "&ns::table<int>" for cuModuleGetGlobal. Known
 * after loading from a blob too.
 *
 * @param[out] lowered_name  Valid as long as @p program is held.
 * @retval INGOT_NOT_FOUND          The program was described without this expression.
 * @retval INGOT_INVALID_ARGUMENTS  @p program is of another backend.
 */
INGOT_API ingot_status_t ingot_cuda_program_get_lowered_name(const_ingot_program_t program, const char *expression,
                                                             const char **lowered_name);

/**
 * The native kernel. Borrowed likewise. Launching changes nothing in it, so launches of a shared one need no lock;
 * cuFuncSetAttribute does. CUDA has no second object for one entry point: ingot_kernel_clone is INGOT_UNIMPLEMENTED.
 *
 * @retval INGOT_INVALID_ARGUMENTS  @p kernel is of another backend.
 */
INGOT_API ingot_status_t ingot_cuda_kernel_get_native(const_ingot_kernel_t kernel, CUfunction *native);

#ifdef __cplusplus
}
#endif

#endif
