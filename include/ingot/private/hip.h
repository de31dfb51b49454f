/* SPDX-License-Identifier: MIT */
/* Private: not installed. Only Ingot's own libraries, layers, tool and tests use it. */
/**
 * @file private/hip.h
 * Contexts that compile for devices that this machine does not have, for `ingot build`.
 */
#ifndef INGOT_PRIVATE_HIP_H
#define INGOT_PRIVATE_HIP_H

#include <ingot/hip.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Creates a context for one device that this machine need not have. Its programs are compiled and stored, under the
 * same ids as on a machine with such a device and the same libraries, but not loaded: their native modules are NULL,
 * and kernels cannot be created (INGOT_UNIMPLEMENTED).
 *
 * @param[in] architecture  As the device tells it (gcnArchName), with features: "gfx1030", "gfx90a:sramecc+:xnack-".
 * @retval INGOT_INVALID_ARGUMENTS  @p architecture does not have this form.
 * @retval INGOT_UNIMPLEMENTED      There is no HIP runtime (libamdhip64.so.5 to 7).
 * @retval INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_hip_context_create_for(ingot_context_t *context, const char *architecture,
                                                      const ingot_context_info_t *info);

/**
 * Returns a device's architecture with its features, for ingot_hip_context_create_for on another machine.
 *
 * @param[out] architecture  Valid as long as @p context is held.
 * @retval INGOT_INVALID_ARGUMENTS  @p context belongs to another backend, or has no such device.
 */
INGOT_API ingot_status_t ingot_hip_context_get_architecture(const_ingot_context_t context, uint32_t device_index,
                                                            const char **architecture);

#ifdef __cplusplus
}
#endif

#endif
