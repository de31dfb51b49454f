/*
 * errors.h - OpenCL's error codes in Ingot's words.
 */
#ifndef INGOT_BACKENDS_OPENCL_ERRORS_H
#define INGOT_BACKENDS_OPENCL_ERRORS_H

#include <ingot/backend.h>
#include <ingot/opencl.h>

#include <stdbool.h>

/* "CL_OUT_OF_RESOURCES"; "unknown error" for a code of an extension. Never NULL. */
const char *opencl_error_name(cl_int error);

/* Whether the driver lacked memory, of host or device. */
bool opencl_is_out_of_memory(cl_int error);

/* INGOT_OUT_OF_MEMORY where the driver lacked memory, else `otherwise`; the detail names call, error and number. */
ingot_status_t opencl_fail(ingot_status_t otherwise, const char *call, cl_int error);

#endif
