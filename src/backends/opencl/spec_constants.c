/*
 * spec_constants.c - specialization constants of SPIR-V.
 *
 * With several modules a constant is for those that have it. One that no module has is the program's fault, not to be
 * passed over: it would stand in the id and change nothing.
 */
#include "backends/opencl/spec_constants.h"

#include "backends/opencl/errors.h"

#include <stdio.h>
#include <string.h>

#define MAX_MESSAGE 160u

static ingot_status_t refuse(const ingot_spec_constant_t *constant, cl_int error, ingot_sink_t *log)
{
    char message[MAX_MESSAGE] = "";
    ingot_status_t status = INGOT_SUCCESS;
    if (error == CL_INVALID_SPEC_ID)
        (void)snprintf(message, sizeof(message), "specialization constant %u is not in the module\n",
                       (unsigned)constant->id);
    else
        (void)snprintf(message, sizeof(message), "specialization constant %u cannot have %u bytes\n",
                       (unsigned)constant->id, (unsigned)constant->size);
    status = ingot_sink_write(log, strlen(message), message);
    if (status != INGOT_SUCCESS)
        return status;
    return ingot_set_error_detail(INGOT_BUILD_FAILED, "specialization constant %u: %s (%d)", (unsigned)constant->id,
                                  opencl_error_name(error), (int)error);
}

static ingot_status_t set_one(const ingot_build_request_t *request, const cl_program *programs,
                              const ingot_spec_constant_t *constant, ingot_sink_t *log)
{
    int set = 0;
    for (size_t i = 0; i < request->source_count; ++i) {
        if (request->sources[i].kind != INGOT_SOURCE_SPIRV)
            continue;
        const cl_int error =
            clSetProgramSpecializationConstant(programs[i], constant->id, constant->size, constant->value);
        if (error == CL_SUCCESS)
            set = 1;
        else if (error == CL_INVALID_VALUE)
            return refuse(constant, error, log);
        else if (error != CL_INVALID_SPEC_ID)
            return opencl_fail(error == CL_INVALID_OPERATION ? INGOT_UNIMPLEMENTED : INGOT_BACKEND_ERROR,
                               "clSetProgramSpecializationConstant", error);
    }
    return set ? INGOT_SUCCESS : refuse(constant, CL_INVALID_SPEC_ID, log);
}

ingot_status_t opencl_set_spec_constants(const struct opencl_state *state, const ingot_build_request_t *request,
                                         const cl_program *programs, ingot_sink_t *log)
{
    ingot_status_t status = INGOT_SUCCESS;
    if (request->spec_constant_count > 0 && state->version < OPENCL_VERSION_2_2)
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "specialization constants need OpenCL 2.2");
    for (size_t i = 0; i < request->spec_constant_count && status == INGOT_SUCCESS; ++i)
        status = set_one(request, programs, &request->spec_constants[i], log);
    return status;
}
