/*
 * spec_constants.h - specialization constants of SPIR-V.
 */
#ifndef INGOT_BACKENDS_OPENCL_SPEC_CONSTANTS_H
#define INGOT_BACKENDS_OPENCL_SPEC_CONSTANTS_H

#include "backends/opencl/state.h"

/* Sets the request's constants, which were checked, in those of its native programs that have them. */
ingot_status_t opencl_set_spec_constants(const struct opencl_state *state, const ingot_build_request_t *request,
                                         const cl_program *programs);

#endif
