/*
 * errors.h - converts OpenCL's error codes to Ingot's statuses and error messages.
 */
#ifndef INGOT_BACKENDS_OPENCL_ERRORS_H
#define INGOT_BACKENDS_OPENCL_ERRORS_H

#include <ingot/opencl.h>
#include <ingot/private/backend.h>

/* Returns a name such as "CL_OUT_OF_RESOURCES", or "unknown error" for a code that no function of the backend is
 * expected to return. Never NULL. */
const char *opencl_error_name(cl_int error);

/* Returns INGOT_OUT_OF_MEMORY if the driver ran out of memory, otherwise `otherwise`. Sets an error detail with
 * the call and the error's name and number. */
ingot_status_t opencl_fail(ingot_status_t otherwise, const char *call, cl_int error);

#endif
