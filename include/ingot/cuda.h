/* SPDX-License-Identifier: MIT */
/* Stable: the last three functions. Stable, advanced: all others. */
/**
 * @file cuda.h
 * Creates contexts for the application's own CUDA contexts (driver API), and returns native handles. Library
 * ingot::cuda.
 *
 * Sources: INGOT_SOURCE_CUDA_CPP, which NVRTC compiles to machine code for the device, and INGOT_SOURCE_PTX. nvJitLink
 * translates PTX, and links several sources into one program. Compile options go to NVRTC, link options to nvJitLink.
 * If all sources are PTX, nvJitLink gets the compile options, too. Option strings are split at white space; quotes and
 * backslashes work as in a shell. The architecture is the device's, unless an option names another
 * (--gpu-architecture=sm_90a).
 *
 * Name expressions are resolved in the first CUDA C++ source. Kernels can then be requested by their expressions and by
 * their lowered (mangled) names.
 *
 * The library is not linked with CUDA. It opens libcuda.so.1 when a context is created, and libnvrtc and libnvJitLink
 * when a program is built or an id is requested. Of each of these two, it opens the newest version from 12 on whose
 * major version is at most the driver's. All these libraries stay open.
 */
#ifndef INGOT_CUDA_H
#define INGOT_CUDA_H

#include <cuda.h>

#include <ingot/cache.h>
#include <ingot/ingot.h>
#include <ingot/pending.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Creates a context for CUDA contexts. Each of them becomes a device of the new context. They must live until the last
 * object of the new context is released, because CUDA does not count references. CUDA contexts of the same GPU, or of
 * identical GPUs, share binaries.
 *
 * No Ingot call changes the thread's current CUDA context.
 *
 * @param[out] context        The new context; its device indices follow @p cuda_contexts.
 * @param[in]  context_count  At least 1.
 * @param[in]  cuda_contexts  No duplicates; from cuCtxCreate or cuDevicePrimaryCtxRetain.
 * @param[in]  info           NULL: defaults.
 * @retval INGOT_INVALID_ARGUMENTS  A CUDA context is NULL or is given twice, or @p context_count is 0.
 * @retval INGOT_UNIMPLEMENTED      There is no CUDA driver (libcuda.so.1), or it is older than CUDA 12.
 * @retval INGOT_BACKEND_ERROR, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_cuda_context_create(ingot_context_t *context, uint32_t context_count,
                                                   const CUcontext *cuda_contexts, const ingot_context_info_t *info);

/**
 * Returns the native module for one of the program's devices. It is borrowed: valid as long as @p program is held.
 *
 * @retval INGOT_INVALID_ARGUMENTS  @p program belongs to another backend or was not made for the device.
 */
INGOT_API ingot_status_t ingot_cuda_program_get_native(const_ingot_program_t program, uint32_t device_index,
                                                       CUmodule *native);

/**
 * Returns the lowered (mangled) name of one of the program's name expressions, e.g. of "&ns::table<int>" for
 * cuModuleGetGlobal. Programs that were loaded from a blob also have these names.
 *
 * @param[out] lowered_name  Valid as long as @p program is held.
 * @retval INGOT_NOT_FOUND          The program descriptor does not have this expression.
 * @retval INGOT_INVALID_ARGUMENTS  @p program belongs to another backend.
 */
INGOT_API ingot_status_t ingot_cuda_program_get_lowered_name(const_ingot_program_t program, const char *expression,
                                                             const char **lowered_name);

/**
 * Returns the native kernel. It is borrowed: valid as long as @p kernel is held. Launches do not change it, so they
 * need no lock even if the kernel is shared. cuFuncSetAttribute changes it, so it needs the lock (ingot_kernel_lock).
 *
 * @retval INGOT_INVALID_ARGUMENTS  @p kernel belongs to another backend.
 */
INGOT_API ingot_status_t ingot_cuda_kernel_get_native(const_ingot_kernel_t kernel, CUfunction *native);

/* ---- the front door (ingot/cache.h) ------------------------------------------------------------------------------ */

/**
 * Replaces nvrtcCompileProgram and cuModuleLoadData: returns a loaded module from the cache, or compiles it and stores
 * it. Exported by libingot-cache only.
 *
 * The module is the application's own, as after cuModuleLoadData: the application unloads it, and each call returns
 * another module. After the call, Ingot uses neither the module nor @p context. The architecture is the device's,
 * unless an option names another.
 *
 * If several threads, processes or machines request the same module at once, one of them compiles it, and the others
 * load it. If the cache fails in any way, the module is compiled, and an event says why.
 *
 * @param      cache         NULL: no cache; compiles.
 * @param      context       From cuCtxCreate or cuDevicePrimaryCtxRetain. It need not be current.
 * @param      source        CUDA C++ for NVRTC; or PTX, whose first directive is .version, for nvJitLink.
 * @param      source_size   In bytes; 0: @p source ends with a NUL.
 * @param      name          The file name in messages. NULL: none.
 * @param      options       The compiler's options, one in each element.
 * @param[out] module        Set on success only.
 * @param[out] origin        INGOT_ORIGIN_STORAGE or INGOT_ORIGIN_BUILD, set on success. May be NULL.
 * @par Threads  Any number at once.
 * @retval INGOT_BUILD_FAILED       The compiler refused the program. The detail holds its log.
 * @retval INGOT_BUSY               With INGOT_CACHE_OPEN_LATER: the module is not there yet, and a wish was left.
 * @retval INGOT_INVALID_ARGUMENTS  An argument or an option is NULL.
 * @retval INGOT_UNIMPLEMENTED      There is no CUDA driver (libcuda.so.1), it is older than CUDA 12, or NVRTC is
 * missing.
 * @retval INGOT_BACKEND_ERROR, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_cache_cuda_load(ingot_cache_t cache, CUcontext context, const char *source,
                                               size_t source_size, const char *name, const char *const *options,
                                               size_t option_count, CUmodule *module, ingot_origin_t *origin);

/**
 * Begins a module that is taken later (ingot/pending.h). The arguments are those of ingot_cache_cuda_load, and are
 * copied. Looks for the module, and leaves a wish for it if it is not there. Compiles nothing. Exported by
 * libingot-cache only.
 *
 * @param      context  Must not be destroyed before @p pending is ended.
 * @param[out] pending  Set on success only.
 * @par Threads  Any number at once.
 * @retval INGOT_SUCCESS            Also for a module that only its take can compile; ingot_pending_poll says why.
 * @retval INGOT_INVALID_ARGUMENTS  As ingot_cache_cuda_load.
 * @retval INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_cache_cuda_begin(ingot_cache_t cache, CUcontext context, const char *source,
                                                size_t source_size, const char *name, const char *const *options,
                                                size_t option_count, ingot_pending_t *pending);

/**
 * Returns the module, as ingot_cache_cuda_load does, and ends @p pending, whatever the status. Exported by
 * libingot-cache only.
 *
 * While somebody else compiles it, the thread compiles other modules that were begun with the cache, and keeps them
 * for their takes. With INGOT_CACHE_OPEN_LATER, it compiles, too.
 *
 * @retval INGOT_INVALID_ARGUMENTS  @p pending is NULL or of another backend, or @p module is NULL. Nothing is ended.
 * @return Otherwise as ingot_cache_cuda_load, except INGOT_BUSY.
 */
INGOT_API ingot_status_t ingot_cache_cuda_take(ingot_pending_t pending, CUmodule *module, ingot_origin_t *origin);

#ifdef __cplusplus
}
#endif

#endif
