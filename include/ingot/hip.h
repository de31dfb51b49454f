/* SPDX-License-Identifier: MIT */
/* Stable: the last three functions. Stable, advanced: all others. */
/**
 * @file hip.h
 * Creates contexts for HIP devices, and returns native handles. Library ingot::hip. Nothing of this was ever run on a
 * GPU: it was tested with the real hipRTC of Debian 12 and 13, and a stand-in for the driver (doc/hip.md).
 *
 * Sources: INGOT_SOURCE_HIP_CPP, which hipRTC compiles to machine code for the device, and INGOT_SOURCE_HIP_CODE, a
 * code object or an uncompressed fat binary with one for the device, which the driver gets as it is. hipRTC cannot
 * link, so several sources of HIP C++ are compiled as one text, in their order: they share macros and static names.
 * Option strings are split at white space; quotes and backslashes work as in a shell. The architecture is the device's
 * with its features (gcnArchName), unless an option names another (--offload-arch=gfx90a).
 *
 * Kernels can be requested by their name expressions and by their lowered (mangled) names.
 *
 * The library is not linked with HIP, and needs none of its headers: the two handle types are HIP's own, and declared
 * as there. It opens libamdhip64.so when a context is created: the version that the process has loaded, or else the
 * newest from 5 to 7. It opens hipRTC when a program is built or an id is requested. All these libraries stay open.
 */
#ifndef INGOT_HIP_H
#define INGOT_HIP_H

#include <ingot/cache.h>
#include <ingot/ingot.h>
#include <ingot/pending.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ihipModule_t *hipModule_t;
typedef struct ihipModuleSymbol_t *hipFunction_t;

/**
 * Creates a context for HIP devices. Equal devices share binaries. No Ingot call changes the thread's current device.
 *
 * @param[out] context       The new context; its device indices follow @p devices.
 * @param[in]  device_count  At least 1.
 * @param[in]  devices       HIP's device numbers, without duplicates.
 * @param[in]  info          NULL: defaults.
 * @retval INGOT_INVALID_ARGUMENTS  A number is negative or given twice, or @p device_count is 0.
 * @retval INGOT_UNIMPLEMENTED      There is no HIP runtime (libamdhip64.so.5 to 7).
 * @retval INGOT_BACKEND_ERROR      Also if a device does not exist.
 * @retval INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_hip_context_create(ingot_context_t *context, uint32_t device_count, const int *devices,
                                                  const ingot_context_info_t *info);

/**
 * Returns the native module for one of the program's devices. It is borrowed: valid as long as @p program is held.
 *
 * @retval INGOT_INVALID_ARGUMENTS  @p program belongs to another backend or was not made for the device.
 */
INGOT_API ingot_status_t ingot_hip_program_get_native(const_ingot_program_t program, uint32_t device_index,
                                                      hipModule_t *native);

/**
 * Returns the lowered (mangled) name of one of the program's name expressions, e.g. of "&ns::table<int>" for
 * hipModuleGetGlobal. Programs that were loaded from a blob also have these names.
 *
 * @param[out] lowered_name  Valid as long as @p program is held.
 * @retval INGOT_NOT_FOUND          The program descriptor does not have this expression.
 * @retval INGOT_INVALID_ARGUMENTS  @p program belongs to another backend.
 */
INGOT_API ingot_status_t ingot_hip_program_get_lowered_name(const_ingot_program_t program, const char *expression,
                                                            const char **lowered_name);

/**
 * Returns the native kernel. It is borrowed: valid as long as @p kernel is held. Launches do not change it, so they
 * need no lock even if the kernel is shared. hipFuncSetAttribute changes it, so it needs the lock (ingot_kernel_lock).
 *
 * @retval INGOT_INVALID_ARGUMENTS  @p kernel belongs to another backend.
 */
INGOT_API ingot_status_t ingot_hip_kernel_get_native(const_ingot_kernel_t kernel, hipFunction_t *native);

/* ---- the front door (ingot/cache.h) ------------------------------------------------------------------------------ */

/**
 * Replaces hiprtcCompileProgram and hipModuleLoadData: returns a loaded module from the cache, or compiles it and
 * stores it. Exported by libingot-cache only.
 *
 * The module is the application's own, as after hipModuleLoadData: the application unloads it, and each call returns
 * another module. The architecture is the device's, unless an option names another. Machine code is loaded as it is,
 * and not stored.
 *
 * If several threads, processes or machines request the same module at once, one of them compiles it, and the others
 * load it. If the cache fails in any way, the module is compiled, and an event says why.
 *
 * @param      cache         NULL: no cache; compiles.
 * @param      device        HIP's device number. The device need not be current.
 * @param      source        HIP C++ for hipRTC; or a code object, or an uncompressed fat binary with one for the
 *                           device, whose code objects all have the same kernels.
 * @param      source_size   In bytes; 0: @p source is text and ends with a NUL.
 * @param      name          The file name in messages. NULL: none.
 * @param      options       The compiler's options, one in each element.
 * @param[out] module        Set on success only.
 * @param[out] origin        INGOT_ORIGIN_STORAGE or INGOT_ORIGIN_BUILD, set on success. May be NULL.
 * @par Threads  Any number at once.
 * @retval INGOT_BUILD_FAILED       The compiler refused the program. The detail holds its log.
 * @retval INGOT_BUSY               With INGOT_CACHE_OPEN_LATER: the module is not there yet, and a wish was left.
 * @retval INGOT_INVALID_ARGUMENTS  @p device is negative, or an argument or an option is NULL.
 * @retval INGOT_UNIMPLEMENTED      There is no HIP runtime (libamdhip64.so.5 to 7), or it has no hipRTC.
 * @retval INGOT_BACKEND_ERROR      Also if the device does not exist.
 * @retval INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_cache_hip_load(ingot_cache_t cache, int device, const char *source, size_t source_size,
                                              const char *name, const char *const *options, size_t option_count,
                                              hipModule_t *module, ingot_origin_t *origin);

/**
 * Begins a module that is taken later (ingot/pending.h). The arguments are those of ingot_cache_hip_load, and are
 * copied. Looks for the module, and leaves a wish for it if it is not there. Compiles nothing. Exported by
 * libingot-cache only.
 *
 * @param[out] pending  Set on success only.
 * @par Threads  Any number at once.
 * @retval INGOT_SUCCESS            Also for a module that only its take can compile; ingot_pending_poll says why.
 * @retval INGOT_INVALID_ARGUMENTS  As ingot_cache_hip_load.
 * @retval INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_cache_hip_begin(ingot_cache_t cache, int device, const char *source, size_t source_size,
                                               const char *name, const char *const *options, size_t option_count,
                                               ingot_pending_t *pending);

/**
 * Returns the module, as ingot_cache_hip_load does, and ends @p pending, whatever the status. Exported by
 * libingot-cache only. While somebody else compiles it, the thread compiles other modules that were begun with the
 * cache. With INGOT_CACHE_OPEN_LATER, it compiles, too.
 *
 * @retval INGOT_INVALID_ARGUMENTS  @p pending is NULL or of another backend, or @p module is NULL. Nothing is ended.
 * @return Otherwise as ingot_cache_hip_load, except INGOT_BUSY.
 */
INGOT_API ingot_status_t ingot_cache_hip_take(ingot_pending_t pending, hipModule_t *module, ingot_origin_t *origin);

#ifdef __cplusplus
}
#endif

#endif
