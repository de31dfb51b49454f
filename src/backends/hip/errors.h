/*
 * errors.h - converts HIP's result codes to Ingot's statuses and error messages.
 */
#ifndef INGOT_BACKENDS_HIP_ERRORS_H
#define INGOT_BACKENDS_HIP_ERRORS_H

#include "backends/hip/driver.h"

#include <stdbool.h>

/* Returns INGOT_OUT_OF_MEMORY if the driver ran out of memory, otherwise `otherwise`. Sets an error detail with
 * the call and the result's name and number. */
ingot_status_t hip_fail(const struct hip_driver *driver, ingot_status_t otherwise, const char *call, int result);

/* True if the result means that the driver refused the image itself. */
bool hip_refused_image(int result);

#endif
