/*
 * compile.h - compiles a request to a binary for one architecture, without a GPU or a context.
 */
#ifndef INGOT_BACKENDS_HIP_COMPILER_COMPILE_H
#define INGOT_BACKENDS_HIP_COMPILER_COMPILE_H

#include "backends/rtc/image.h"

/* The target of a compilation. */
struct hip_target {
    ingot_allocator_t allocator;
    unsigned major;           /* of the runtime, which selects hipRTC */
    const char *architecture; /* as in "gfx90a:sramecc+:xnack-" */
};

/* Compiles a request to an image. Returns INGOT_BUILD_FAILED if the compiler refused the program; `log` then has its
 * messages. Returns INGOT_UNIMPLEMENTED if there is no compiler. */
ingot_status_t hip_compile(const struct hip_target *target, const ingot_build_request_t *request, ingot_sink_t *log,
                           struct rtc_bytes *image);

#endif
