/* SPDX-License-Identifier: MIT */
/* Private: not installed. Only Ingot's own libraries, layers, tool and tests use it. */
/**
 * @file private/native_program.h
 * Loads native programs for requests that keep nothing of Ingot's in memory.
 */
#ifndef INGOT_PRIVATE_NATIVE_PROGRAM_H
#define INGOT_PRIVATE_NATIVE_PROGRAM_H

#include <ingot/backend.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Does what ingot_program_load does, but makes only the native program, which the caller destroys by the operation of
 *  the backend. */
INGOT_API ingot_status_t ingot_program_load_native(void **native, const_ingot_program_desc_t desc, size_t size,
                                                   const uint8_t *cache_blob);

#ifdef __cplusplus
}
#endif

#endif
