/*
 * trace.h - writes to the trace (INGOT_TRACE) which programs passed through, and why.
 */
#ifndef INGOT_LAYERS_OPENCL_PROGRAM_TRACE_H
#define INGOT_LAYERS_OPENCL_PROGRAM_TRACE_H

#include "layers/opencl/layer.h"

/* Reports a program that passed through. `native` is the driver's program. `reason` may be
 * ingot_last_error_detail(). */
void trace_passed(cl_program native, ingot_status_t status, const char *reason);

#endif
