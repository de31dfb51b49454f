/*
 * hiprtc_library.h - opens hipRTC, which compiles HIP C++ to machine code, and looks up its functions.
 */
#ifndef INGOT_BACKENDS_HIP_COMPILER_HIPRTC_LIBRARY_H
#define INGOT_BACKENDS_HIP_COMPILER_HIPRTC_LIBRARY_H

#include "backends/rtc/compiler.h"

/* Opens the hipRTC that belongs to libamdhip64.so.MAJOR. Returns INGOT_UNIMPLEMENTED if there is none. */
ingot_status_t hip_hiprtc_open(unsigned major, struct rtc_compiler *hiprtc);

#endif
