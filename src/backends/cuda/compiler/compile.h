/*
 * compile.h - compiles a request to a binary for one architecture, without a GPU, a driver or a context.
 */
#ifndef INGOT_BACKENDS_CUDA_COMPILER_COMPILE_H
#define INGOT_BACKENDS_CUDA_COMPILER_COMPILE_H

#include "backends/rtc/compiler.h"

#define CUDA_NVRTC_OLDEST_MAJOR 12u

/* Describes cubins, the ELF files that hold machine code for NVIDIA's GPUs. */
extern const struct rtc_format cuda_cubin;

/* See rtc_vendor.compile. */
ingot_status_t cuda_compile(const struct rtc_target *target, const ingot_build_request_t *request, ingot_sink_t *log,
                            struct rtc_bytes *image);

#endif
