/*
 * compile.c - implements clCompileProgram and clLinkProgram, which pass through to the driver.
 *
 * The driver gets its own programs in place of the application's. A linked program is the driver's own.
 */
#include <stdlib.h>

#include "layers/common/common.h"
#include "layers/opencl/calls/native_call.h"

cl_int CL_API_CALL layer_compile(cl_program program, cl_uint device_count, const cl_device_id *devices,
                                 const char *options, cl_uint header_count, const cl_program *headers,
                                 const char **header_names, program_callback_t notify, void *user)
{
    struct native_call call = {.is_compilation = true,
                               .device_count = device_count,
                               .devices = devices,
                               .options = options,
                               .header_count = header_count,
                               .headers = headers,
                               .header_names = header_names,
                               .notify = notify,
                               .user = user};
    struct shadow *shadow = shadow_find(program);
    cl_int error = CL_SUCCESS;
    if (shadow == NULL)
        return native_call_make(&call, program);
    if (native_call_is_refused(&call, shadow, &error))
        return error;
    if (settings_must_not_compile())
        return native_call_refuse(&call, shadow, "clCompileProgram is not cached");
    layer_trace_passed(INGOT_UNIMPLEMENTED, "clCompileProgram");
    (void)shadow_build_native(shadow); /* the program keeps its build if the driver refuses to compile */
    return native_call_take_over(&call, shadow);
}

cl_program CL_API_CALL layer_link(cl_context context, cl_uint device_count, const cl_device_id *devices,
                                  const char *options, cl_uint input_count, const cl_program *inputs,
                                  program_callback_t notify, void *user, cl_int *error)
{
    cl_program linked = NULL;
    cl_int code = CL_OUT_OF_HOST_MEMORY;
    const bool has_inputs = input_count > 0 && inputs != NULL;
    cl_program *mapped = has_inputs ? native_call_map(input_count, inputs, shadow_find_built) : NULL;
    if (mapped != NULL || !has_inputs)
        linked = layer_target.clLinkProgram(context, device_count, devices, options, input_count,
                                            has_inputs ? mapped : inputs, notify, user, &code);
    free(mapped);
    layer_trace_passed(INGOT_UNIMPLEMENTED, "clLinkProgram");
    statistics_add(STATISTIC_PASSED, 1);
    statistics_add(STATISTIC_FAILED, code != CL_SUCCESS);
    if (error != NULL)
        *error = code;
    return linked;
}
