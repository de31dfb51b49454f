/*
 * code_object.h - describes code objects, the ELF files that hold machine code for AMD's GPUs, and fat binaries, which
 * bundle one for each of several architectures.
 */
#ifndef INGOT_BACKENDS_HIP_COMPILER_CODE_OBJECT_H
#define INGOT_BACKENDS_HIP_COMPILER_CODE_OBJECT_H

#include "backends/rtc/code.h"

/* The driver selects from a fat binary. Its kernels are those of the first code object. */
extern const struct rtc_format hip_code_object;

#endif
