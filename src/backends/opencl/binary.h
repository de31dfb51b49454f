/*
 * binary.h - programs taken apart into binaries, and made of them again.
 */
#ifndef INGOT_BACKENDS_OPENCL_BINARY_H
#define INGOT_BACKENDS_OPENCL_BINARY_H

#include "backends/opencl/program.h"

ingot_status_t opencl_get_binary(void *state, void *program, uint32_t device_index, ingot_sink_t *binary);
ingot_status_t opencl_load(void *state, const ingot_build_request_t *request, size_t device_count,
                           const uint32_t *device_indices, const ingot_binary_t *binaries, void **program);

/* Another native program of the same binary, for the first of the program's devices alone. The caller releases it. */
ingot_status_t opencl_copy_for_first_device(const struct opencl_state *state, const struct opencl_program *program,
                                            cl_program *native);

#endif
