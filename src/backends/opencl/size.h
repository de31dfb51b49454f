/*
 * size.h - how many bytes of binaries a program stands for.
 */
#ifndef INGOT_BACKENDS_OPENCL_SIZE_H
#define INGOT_BACKENDS_OPENCL_SIZE_H

#include "backends/opencl/program.h"

/* For program->code_estimate: what PoCL makes of these sources for one device, without the kernels' own files. */
size_t opencl_estimate_code(const ingot_build_request_t *request);
/* Of all devices of a program that was built here; 0: not known. */
size_t opencl_get_program_size(void *state, void *program);

#endif
