/*
 * compile.h - compiles a request to a binary for one architecture, without a GPU or a context.
 */
#ifndef INGOT_BACKENDS_HIP_COMPILER_COMPILE_H
#define INGOT_BACKENDS_HIP_COMPILER_COMPILE_H

#include "backends/rtc/compiler.h"

/* Describes code objects, the ELF files that hold machine code for AMD's GPUs, and fat binaries, which bundle one for
 * each of several architectures. The driver selects from a fat binary. */
extern const struct rtc_format hip_code_object;

/* Opens the hipRTC that belongs to libamdhip64.so.MAJOR. Returns INGOT_UNIMPLEMENTED if there is none. */
ingot_status_t hip_hiprtc_open(unsigned major, struct rtc_compiler *hiprtc);

/* See rtc_vendor.compile. */
ingot_status_t hip_compile(const struct rtc_target *target, const ingot_build_request_t *request, ingot_sink_t *log,
                           struct rtc_bytes *image);

#endif
