/*
 * errors.c - converts OpenCL's error codes to Ingot's statuses and error messages.
 *
 * The error detail of every failure contains the name and the number of the driver's code. If the driver ran out of
 * memory, the status is INGOT_OUT_OF_MEMORY, and the core empties the in-memory cache and retries once.
 */
#include "backends/opencl/state.h"

#include <stdbool.h>

#define NAMED(error)                                                                                                   \
    {                                                                                                                  \
        error, #error                                                                                                  \
    }

struct named_error {
    cl_int error;
    const char *name;
};

/* The errors of the functions that the backend calls (functions.h). */
static const struct named_error named_errors[] = {
    NAMED(CL_DEVICE_NOT_AVAILABLE),
    NAMED(CL_COMPILER_NOT_AVAILABLE),
    NAMED(CL_MEM_OBJECT_ALLOCATION_FAILURE),
    NAMED(CL_OUT_OF_RESOURCES),
    NAMED(CL_OUT_OF_HOST_MEMORY),
    NAMED(CL_BUILD_PROGRAM_FAILURE),
    NAMED(CL_COMPILE_PROGRAM_FAILURE),
    NAMED(CL_LINKER_NOT_AVAILABLE),
    NAMED(CL_LINK_PROGRAM_FAILURE),
    NAMED(CL_KERNEL_ARG_INFO_NOT_AVAILABLE),
    NAMED(CL_INVALID_VALUE),
    NAMED(CL_INVALID_PLATFORM),
    NAMED(CL_INVALID_DEVICE),
    NAMED(CL_INVALID_CONTEXT),
    NAMED(CL_INVALID_BINARY),
    NAMED(CL_INVALID_BUILD_OPTIONS),
    NAMED(CL_INVALID_PROGRAM),
    NAMED(CL_INVALID_PROGRAM_EXECUTABLE),
    NAMED(CL_INVALID_KERNEL_NAME),
    NAMED(CL_INVALID_KERNEL_DEFINITION),
    NAMED(CL_INVALID_KERNEL),
    NAMED(CL_INVALID_ARG_INDEX),
    NAMED(CL_INVALID_OPERATION),
    NAMED(CL_INVALID_COMPILER_OPTIONS),
    NAMED(CL_INVALID_LINKER_OPTIONS),
    NAMED(CL_INVALID_SPEC_ID),
};

const char *opencl_error_name(cl_int error)
{
    for (size_t i = 0; i < sizeof(named_errors) / sizeof(named_errors[0]); ++i) {
        if (named_errors[i].error == error)
            return named_errors[i].name;
    }
    return "unknown error";
}

ingot_status_t opencl_fail(ingot_status_t otherwise, const char *call, cl_int error)
{
    const ingot_status_t status =
        (error == CL_OUT_OF_HOST_MEMORY || error == CL_OUT_OF_RESOURCES || error == CL_MEM_OBJECT_ALLOCATION_FAILURE)
            ? INGOT_OUT_OF_MEMORY
            : otherwise;
    return ingot_set_error(status, error, "%s: %s (%d)", call, opencl_error_name(error), (int)error);
}
