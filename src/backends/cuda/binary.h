/*
 * binary.h - programs taken apart into binaries, and made of them again.
 */
#ifndef INGOT_BACKENDS_CUDA_BINARY_H
#define INGOT_BACKENDS_CUDA_BINARY_H

#include <ingot/backend.h>

ingot_status_t cuda_get_binary(void *state, void *program, uint32_t device_index, ingot_sink_t *binary);
ingot_status_t cuda_load(void *state, const ingot_build_request_t *request, size_t device_count,
                         const uint32_t *device_indices, const ingot_binary_t *binaries, void **program);

#endif
