/*
 * cubin.h - reads cubins, the ELF files that hold machine code for a GPU.
 */
#ifndef INGOT_BACKENDS_CUDA_COMPILER_CUBIN_H
#define INGOT_BACKENDS_CUDA_COMPILER_CUBIN_H

#include <ingot/backend.h>

#include <stdbool.h>

/* True if the bytes are a cubin, which the driver loads without compiling. */
bool cuda_cubin_is_one(size_t size, const uint8_t *bytes);
/* True if all tables and sections of a cubin are inside the bytes. The driver is not told the size, and would read
 * beyond the end. */
bool cuda_cubin_is_whole(size_t size, const uint8_t *bytes);
/* True if the cubin must be linked before it can be loaded. */
bool cuda_cubin_is_relocatable(size_t size, const uint8_t *bytes);

/* Calls `visit` with the name of each kernel, until `visit` fails. Returns INGOT_BACKEND_ERROR if the cubin is
 * malformed. */
ingot_status_t cuda_cubin_for_each_kernel(size_t size, const uint8_t *bytes,
                                          ingot_status_t (*visit)(void *user, const char *name), void *user);

#endif
