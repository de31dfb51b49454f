/*
 * compile.h - compiles a request to a binary for one architecture, without a GPU, a driver or a context.
 */
#ifndef INGOT_BACKENDS_CUDA_COMPILER_COMPILE_H
#define INGOT_BACKENDS_CUDA_COMPILER_COMPILE_H

#include "backends/rtc/image.h"

/* The target of a compilation. */
struct cuda_target {
    ingot_allocator_t allocator;
    int driver_version; /* selects the compilers */
    int major;          /* compute capability */
    int minor;
};

/* Compiles a request to an image. Returns INGOT_BUILD_FAILED if a compiler refused the program; `log` then has the
 * compiler's messages. Returns INGOT_UNIMPLEMENTED if there is no compiler. */
ingot_status_t cuda_compile(const struct cuda_target *target, const ingot_build_request_t *request, ingot_sink_t *log,
                            struct rtc_bytes *image);

#endif
