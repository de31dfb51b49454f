/*
 * compile.h - from a request to the binary for one architecture; needs no GPU, no driver and no context.
 */
#ifndef INGOT_BACKENDS_CUDA_COMPILER_COMPILE_H
#define INGOT_BACKENDS_CUDA_COMPILER_COMPILE_H

#include "backends/cuda/compiler/image.h"

/* For whom to compile. */
struct cuda_target {
    ingot_allocator_t allocator;
    int driver_version; /* which compilers to take */
    int major;          /* compute capability */
    int minor;
};

/* INGOT_BUILD_FAILED, with the log, where a compiler refuses; INGOT_UNIMPLEMENTED where there is no compiler. */
ingot_status_t cuda_compile(const struct cuda_target *target, const ingot_build_request_t *request, ingot_sink_t *log,
                            struct cuda_bytes *image);

#endif
