/*
 * trace.h - reports to INGOT_TRACE what passed through, and why.
 */
#ifndef INGOT_LAYERS_OPENCL_PROGRAM_TRACE_H
#define INGOT_LAYERS_OPENCL_PROGRAM_TRACE_H

#include "layers/opencl/layer.h"

/* Reports a program that passed through. `native` is the driver's program. The reason may be the thread's sentence
 * about its last failure. */
void trace_passed(cl_program native, ingot_status_t status, const char *reason);

#endif
