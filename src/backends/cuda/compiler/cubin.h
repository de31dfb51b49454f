/*
 * cubin.h - what a cubin, the ELF file that holds machine code for a GPU, says of itself.
 */
#ifndef INGOT_BACKENDS_CUDA_COMPILER_CUBIN_H
#define INGOT_BACKENDS_CUDA_COMPILER_CUBIN_H

#include <ingot/backend.h>

#include <stdbool.h>

/* True if these bytes are machine code for a GPU, and nothing that a driver would have to compile. */
bool cuda_cubin_is_one(size_t size, const uint8_t *bytes);
/* True if the cubin is still to be linked. */
bool cuda_cubin_is_relocatable(size_t size, const uint8_t *bytes);

/* Calls for the name of every kernel until that fails. INGOT_BACKEND_ERROR: its tables lead out of it. */
ingot_status_t cuda_cubin_for_each_kernel(size_t size, const uint8_t *bytes,
                                          ingot_status_t (*visit)(void *user, const char *name), void *user);

#endif
