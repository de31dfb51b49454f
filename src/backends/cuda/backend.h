/*
 * backend.h - the CUDA backend's tables and functions, grouped by file.
 */
#ifndef INGOT_BACKENDS_CUDA_BACKEND_H
#define INGOT_BACKENDS_CUDA_BACKEND_H

#include <ingot/cuda.h>
#include <ingot/private/backend.h>

#include "backends/rtc/vendor.h"

extern const ingot_backend_ops_t cuda_ops;
extern const struct rtc_vendor cuda_vendor; /* its natives are an array of CUcontext */

#endif
