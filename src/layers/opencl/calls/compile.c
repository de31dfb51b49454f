/*
 * compile.c - clCompileProgram and clLinkProgram, which the driver does.
 *
 * A compiled object is not a program that runs, and a link may take objects from anywhere, so neither is cached. The
 * driver sees its own programs, and a linked program is the driver's.
 */
#include <stdlib.h>

#include "layers/opencl/calls/native_call.h"
#include "layers/opencl/program/trace.h"
#include "layers/opencl/statistics.h"

/* The driver's programs for the application's. Returns NULL without memory; the caller frees it. */
static cl_program *map_programs(cl_uint count, const cl_program *programs, bool needs_objects)
{
    cl_program *mapped = malloc(count * sizeof(*mapped));
    for (cl_uint i = 0; i < count && mapped != NULL; ++i) {
        struct shadow *shadow = shadow_find(programs[i]);
        mapped[i] = shadow != NULL ? shadow->native : programs[i];
        if (shadow != NULL && needs_objects)
            (void)shadow_build_native(shadow);
    }
    return mapped;
}

cl_int CL_API_CALL layer_compile(cl_program program, cl_uint device_count, const cl_device_id *devices,
                                 const char *options, cl_uint header_count, const cl_program *headers,
                                 const char **header_names, program_callback_t notify, void *user)
{
    struct native_call call;
    cl_program *mapped = NULL;
    cl_int error = CL_OUT_OF_HOST_MEMORY;
    struct shadow *shadow = shadow_find(program);
    if (shadow != NULL && shadow_has_kernels_of_result(shadow))
        return CL_INVALID_OPERATION;
    if (header_count > 0 && headers != NULL) {
        mapped = map_programs(header_count, headers, false);
        if (mapped == NULL)
            return CL_OUT_OF_HOST_MEMORY;
    }
    if (mapped != NULL)
        headers = mapped;
    if (shadow == NULL) {
        error = layer_target.clCompileProgram(program, device_count, devices, options, header_count, headers,
                                              header_names, notify, user);
    } else if (native_call_begin(&call, shadow, notify, user)) {
        trace_passed(shadow->native, INGOT_UNIMPLEMENTED, "clCompileProgram");
        error = native_call_end(&call, layer_target.clCompileProgram(shadow->native, device_count, devices, options,
                                                                     header_count, headers, header_names, call.notify,
                                                                     call.user));
    }
    free(mapped);
    return error;
}

cl_program CL_API_CALL layer_link(cl_context context, cl_uint device_count, const cl_device_id *devices,
                                  const char *options, cl_uint input_count, const cl_program *inputs,
                                  program_callback_t notify, void *user, cl_int *error)
{
    cl_int code = CL_OUT_OF_HOST_MEMORY;
    cl_program *mapped = NULL;
    cl_program linked = NULL;
    if (input_count > 0 && inputs != NULL)
        mapped = map_programs(input_count, inputs, true);
    if (mapped != NULL || input_count == 0 || inputs == NULL)
        linked = layer_target.clLinkProgram(context, device_count, devices, options, input_count,
                                            mapped != NULL ? mapped : inputs, notify, user, &code);
    trace_passed(linked, INGOT_UNIMPLEMENTED, "clLinkProgram");
    statistics_add(STATISTIC_PASSED, 1);
    if (code != CL_SUCCESS)
        statistics_add(STATISTIC_FAILED, 1);
    if (error != NULL)
        *error = code;
    free(mapped);
    return linked;
}
