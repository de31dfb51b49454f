/*
 * nvrtc.h - compiles one source of CUDA C++ to machine code.
 */
#ifndef INGOT_BACKENDS_CUDA_COMPILER_NVRTC_H
#define INGOT_BACKENDS_CUDA_COMPILER_NVRTC_H

#include "backends/cuda/compiler/image.h"
#include "backends/cuda/compiler/options.h"

struct cuda_nvrtc_job {
    const ingot_allocator_t *allocator;
    int driver_version;
    const ingot_build_request_t *request; /* for its headers and name expressions */
    const ingot_source_view_t *source;
    size_t expression_count; /* 0 if the expressions belong to another source */
    const struct cuda_options *options;
    ingot_sink_t *log;
};

/* Compiles a source. Writes `head` only if there are name expressions. */
ingot_status_t cuda_nvrtc_compile(const struct cuda_nvrtc_job *job, struct cuda_bytes *head, struct cuda_bytes *cubin);

#endif
