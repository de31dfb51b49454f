/*
 * loader.c - creates contexts that call the OpenCL loader.
 *
 * This is the only file that refers to the loader's functions. If an executable or a layer links the static library
 * and creates contexts only with ingot_opencl_context_create_with, it does not need the loader.
 */
#include "backends/opencl/backend.h"

#include <CL/cl_icd.h>
#include <ingot/private/opencl.h>

#include "backends/opencl/functions.h"

#define FIELD(name) .name = (name),

static const cl_icd_dispatch loader = {OPENCL_EACH_FUNCTION(FIELD) OPENCL_EACH_NEWER_FUNCTION(FIELD)};

ingot_status_t ingot_opencl_context_create(ingot_context_t *context, cl_context cl_context, uint32_t device_count,
                                           const cl_device_id *devices, const ingot_context_info_t *info)
{
    return ingot_opencl_context_create_with(context, &loader, cl_context, device_count, devices, info);
}
