/*
 * nvrtc_library.h - opens NVRTC, which compiles CUDA C++ to machine code, and looks up its functions.
 */
#ifndef INGOT_BACKENDS_CUDA_COMPILER_NVRTC_LIBRARY_H
#define INGOT_BACKENDS_CUDA_COMPILER_NVRTC_LIBRARY_H

#include "backends/rtc/compiler.h"

#define CUDA_NVRTC_OLDEST_MAJOR 12u

/* Opens the newest NVRTC whose major version is not newer than the driver's, because the driver may refuse code from a
 * newer NVRTC. Returns INGOT_UNIMPLEMENTED if there is none. */
ingot_status_t cuda_nvrtc_open(int driver_version, struct rtc_compiler *nvrtc);

#endif
