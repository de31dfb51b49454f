/*
 * binary.h - programs taken apart into binaries, and made of them again.
 */
#ifndef INGOT_BACKENDS_OPENCL_BINARY_H
#define INGOT_BACKENDS_OPENCL_BINARY_H

#include "backends/opencl/program.h"

ingot_status_t opencl_get_binary(void *state, void *program, uint32_t device_index, ingot_sink_t *binary);
ingot_status_t opencl_load(void *state, const ingot_build_request_t *request, size_t device_count,
                           const uint32_t *device_indices, const ingot_binary_t *binaries, void **program);

/* Bytes that the blob's binaries of a program have, as far as the driver has them already. 0: it does not say. */
size_t opencl_binaries_size(const struct opencl_state *state, const struct opencl_program *program);

/* Another native program of the binary of the program's first device: for that device alone, or with that binary for
 * all devices of the native context. The caller releases it. */
ingot_status_t opencl_copy_program(const struct opencl_state *state, const struct opencl_program *program, int for_all,
                                   cl_program *native);

#endif
