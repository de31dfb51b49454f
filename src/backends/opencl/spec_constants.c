/*
 * spec_constants.c - sets the specialization constants of SPIR-V modules.
 *
 * If there are several modules, each constant is set in the modules that have it. ingot_spirv_check_request has
 * already checked that each constant is in at least one module, and that its size is right.
 */
#include "backends/opencl/backend.h"
#include "backends/opencl/errors.h"
#include "backends/opencl/state.h"

static ingot_status_t set_one(const struct opencl_state *state, const ingot_build_request_t *request,
                              const cl_program *programs, const ingot_spec_constant_t *constant)
{
    for (size_t i = 0; i < request->source_count; ++i) {
        if (!ingot_spirv_has_spec_constant(&request->sources[i], constant->id))
            continue;
        const cl_int error =
            state->cl->clSetProgramSpecializationConstant(programs[i], constant->id, constant->size, constant->value);
        if (error != CL_SUCCESS)
            return opencl_fail(error == CL_INVALID_OPERATION ? INGOT_UNIMPLEMENTED : INGOT_BACKEND_ERROR,
                               "clSetProgramSpecializationConstant", error);
    }
    return INGOT_SUCCESS;
}

ingot_status_t opencl_set_spec_constants(const struct opencl_state *state, const ingot_build_request_t *request,
                                         const cl_program *programs)
{
    ingot_status_t status = INGOT_SUCCESS;
    if (request->spec_constant_count > 0 &&
        (state->version < OPENCL_VERSION_2_2 || state->cl->clSetProgramSpecializationConstant == NULL))
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "specialization constants need OpenCL 2.2");
    for (size_t i = 0; i < request->spec_constant_count && status == INGOT_SUCCESS; ++i)
        status = set_one(state, request, programs, &request->spec_constants[i]);
    return status;
}
