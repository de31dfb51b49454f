/*
 * trace.h - writes to the trace (INGOT_TRACE) which programs passed through, and why, and why there is no store.
 */
#ifndef INGOT_LAYERS_OPENCL_PROGRAM_TRACE_H
#define INGOT_LAYERS_OPENCL_PROGRAM_TRACE_H

#include "layers/opencl/layer.h"

/* Reports a program that passed through. `native` is the driver's program. `reason` may be
 * ingot_last_error_detail(). */
void trace_passed(cl_program native, ingot_status_t status, const char *reason);
/* Reports that the store cannot be used. `native` is any of the driver's programs. */
void trace_degraded(cl_program native, ingot_status_t status, const char *reason);

#endif
