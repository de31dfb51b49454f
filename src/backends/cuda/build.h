/*
 * build.h - compiling and linking.
 */
#ifndef INGOT_BACKENDS_CUDA_BUILD_H
#define INGOT_BACKENDS_CUDA_BUILD_H

#include <ingot/backend.h>

ingot_status_t cuda_build(void *state, const ingot_build_request_t *request, size_t device_count,
                          const uint32_t *device_indices, ingot_sink_t *log, void **program);

#endif
