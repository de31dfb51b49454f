/*
 * errors.h - CUDA's result codes in Ingot's words.
 */
#ifndef INGOT_BACKENDS_CUDA_ERRORS_H
#define INGOT_BACKENDS_CUDA_ERRORS_H

#include "backends/cuda/driver.h"

/* INGOT_OUT_OF_MEMORY where the driver lacked memory, else `otherwise`; the detail names call, result and number. */
ingot_status_t cuda_fail(const struct cuda_driver *driver, ingot_status_t otherwise, const char *call, CUresult result);

/* True if the driver refused the image that it was given, and nothing else is wrong. */
bool cuda_refused_image(CUresult result);

#endif
