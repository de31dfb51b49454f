/*
 * cubin.h - describes cubins, the ELF files that hold machine code for NVIDIA's GPUs.
 */
#ifndef INGOT_BACKENDS_CUDA_COMPILER_CUBIN_H
#define INGOT_BACKENDS_CUDA_COMPILER_CUBIN_H

#include "backends/rtc/code.h"

extern const struct rtc_format cuda_cubin;

#endif
