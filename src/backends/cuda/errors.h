/*
 * errors.h - converts CUDA's result codes to Ingot's statuses and error messages.
 */
#ifndef INGOT_BACKENDS_CUDA_ERRORS_H
#define INGOT_BACKENDS_CUDA_ERRORS_H

#include "backends/cuda/driver.h"

/* Returns INGOT_OUT_OF_MEMORY if the driver ran out of memory, otherwise `otherwise`. Sets an error detail with
 * the call and the result's name and number. */
ingot_status_t cuda_fail(const struct cuda_driver *driver, ingot_status_t otherwise, const char *call, CUresult result);

/* True if the result means that the driver refused the image itself. */
bool cuda_refused_image(CUresult result);

#endif
